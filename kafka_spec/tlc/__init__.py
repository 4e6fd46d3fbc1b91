"""What only a comparison with TLC's counts needs.

multiplicity  how often TLC counts a step of kip_279 and kip_320 as generated
"""
