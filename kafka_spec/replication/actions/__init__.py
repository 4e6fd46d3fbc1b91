"""Actions that several truncation variants have, and the reads and effects that they share.

controller  elections, and the removal of a failed broker from the ISR
requests    a replica picks one of the controller's requests
leaders     a replica becomes the leader, and writes; how a leader changes the ISR
followers   a replica becomes a follower, truncates and copies
unfenced    before KIP-320: ISR changes, commits and fetches that ignore the leader epoch
"""
