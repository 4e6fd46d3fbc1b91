"""The sentences that stand on a stepper's buttons, for all actions of the BookKeeper specs.

A parameter stands in braces; `{ensemble:b}` puts a letter before each bookie, and
`{entry:-1}` is an entry's real id. The messages that are
lost in a step follow by themselves.
"""

_NEW_ENSEMBLE = "c{client} replaces bookies: {ensemble:b}"

CLIENTS = {
    # The creator
    "client_creates_ledger": "c{client} creates the ledger on {ensemble:b}",
    "client_sends_add_entry_requests": "c{client} sends its next entry",
    "client_receives_add_confirmed_response": "c{client} learns that b{bookie} has e{entry:-1}",
    "client_receives_add_fenced_response": "c{client} learns that b{bookie} is fenced",
    "client_changes_ensemble": _NEW_ENSEMBLE,
    "client_resends_pending_add_op": "c{client} sends e{entry:-1} to new bookies",
    "client_sends_pending_add_op": "c{client} sends e{entry:-1} to the new bookie",
    "client_closes_ledger_success": "c{client} closes the ledger",
    "client_closes_ledger_fail": "c{client} tries to close, and finds a recovery",
    "client_withdraws": "c{client} learns from b{bookie} of a later term",
    # Bookies
    "bookie_sends_add_confirmed_response": "b{bookie} stores e{entry:-1} of c{client}",
    "bookie_sends_add_fenced_response": "b{bookie}, fenced, refuses e{entry:-1} of c{client}",
    "bookie_sends_fencing_read_lac_response": "b{bookie} fences, and tells c{client} its LAC",
    "bookie_sends_fencing_read_lafr_response": "b{bookie} fences, and tells c{client} its LAFR",
    "bookie_sends_read_response": "b{bookie} answers c{client}'s read of e{entry:-1}",
    "bookie_rejects_request": "b{bookie} rejects c{client}: its term is old",
    "bookie_crashes_when_ledger_open": "b{bookie} crashes and loses its entries",
    "bookie_crashes_when_ledger_in_recovery": "b{bookie} crashes and loses its entries",
    "bookie_crashes_when_ledger_closed": "b{bookie} crashes and loses its entries",
    # Recovery
    "client_starts_recovery": "c{client} starts recovery",
    "client_starts_new_term": "c{client} starts a new term",
    "client_receives_fencing_read_lac_response": (
        "c{client} learns that b{bookie} is fenced, LAC {lac:-1}"
    ),
    "client_receives_fencing_read_lafr_response": (
        "c{client} learns that b{bookie} is fenced, LAFR {lafr:-1}"
    ),
    "client_sends_recovery_read_requests": "c{client} asks for the next entry",
    "client_sends_read_requests": "c{client} asks for the next entry",
    "client_receives_recovery_read_response": "c{client} gets b{bookie}'s answer",
    "client_receives_non_final_read": "c{client} gets b{bookie}'s answer, and waits",
    "client_completes_read_successfully": "c{client} has read e{entry:-1}, says b{bookie}",
    "client_completes_read_with_no_such_entry": (
        "c{client} finds no further entry, says b{bookie}"
    ),
    "client_writes_back_entry": "c{client} writes an entry back",
    "client_performs_recovery_write": "c{client} writes an entry back",
    "recovery_client_receives_add_confirmed_response": (
        "c{client} learns that b{bookie} has e{entry:-1} again"
    ),
    "recovery_client_changes_ensemble": _NEW_ENSEMBLE,
    "recovery_client_sends_pending_add_op": "c{client} writes e{entry:-1} to new bookies",
    "recovery_client_closes_ledger": "c{client} closes the recovered ledger",
    "client_changes_term_to_open": "c{client} opens the ledger for its term",
}

_NEW_BOOKIE = "{0} replaces b{{bookie}}: {{ensemble:b}}"

TWO_WRITERS = {
    "w1_creates_ledger": "w1 creates the ledger on {ensemble:b}",
    "w1_sends_add_entry_requests": "w1 sends its next entry",
    "w1_receives_add_confirmed_response": "w1 learns that b{bookie} has e{entry:-1}",
    "w1_receives_add_fenced_response": "w1 learns that b{bookie} is fenced",
    "w1_changes_ensemble": _NEW_BOOKIE.format("w1"),
    "w1_tries_invalid_ensemble_change": "w1 tries to replace b{bookie}",
    "w1_sends_pending_add_op": "w1 sends e{entry:-1} to the new bookie",
    "w1_close_ledger_success": "w1 closes the ledger",
    "w1_close_ledger_fail": "w1 tries to close, and finds a recovery",
    "bookie_sends_add_confirmed_response": "b{bookie} stores e{entry:-1} of {writer}",
    "bookie_sends_add_fenced_response": "b{bookie}, fenced, refuses e{entry:-1} of w1",
    "bookie_sends_fencing_read_lac_response": "b{bookie} fences, and tells its LAC",
    "bookie_sends_read_response": "b{bookie} answers the read of e{entry:-1}",
    "w2_place_in_recovery": "w2 starts recovery",
    "w2_receives_fencing_read_lac_response": "w2 learns that b{bookie} is fenced, LAC {lac:-1}",
    "w2_sends_read_requests": "w2 asks for the next entry",
    "w2_receives_non_final_read": "w2 gets b{bookie}'s answer, and waits",
    "w2_completes_read_successfully": "w2 has read e{entry:-1}, says b{bookie}",
    "w2_completes_read_with_no_such_entry": "w2 finds no further entry, says b{bookie}",
    "w2_writes_back_entry": "w2 writes an entry back",
    "w2_receives_add_confirmed_response": "w2 learns that b{bookie} has e{entry:-1} again",
    "w2_changes_ensemble": _NEW_BOOKIE.format("w2"),
    "w2_tries_invalid_ensemble_change": "w2 tries to replace b{bookie}: invalid",
    "w2_sends_pending_add_op": "w2 writes e{entry:-1} to the new bookie",
    "w2_closes_ledger": "w2 closes the ledger",
}

COVERAGE = {"receive_response": "b{bookie}: {response}"}

CHAINING = {
    "leader_chosen": "Client {client} is chosen as leader",
    "become_leader": "Client {client} learns that it leads",
    "abdicate": "Client {client} learns that it leads no longer",
    "get_last_ledger": "Client {client} reads the list of ledgers",
    "ledger_already_closed": "Client {client} finds the last ledger closed",
    "close_last_ledger_success": "Client {client} closes the last ledger",
    "close_last_ledger_bad_version": "Client {client} tries to close it, and finds it changed",
    "create_ledger": "Client {client} creates a ledger",
    "append_ledger_success": "Client {client} appends its ledger",
    "append_ledger_bad_version": "Client {client} tries to append, and finds the list changed",
    "write_to_ledger": "Client {client} writes an entry",
    "close_own_ledger_success": "Client {client} closes its own ledger",
    "close_own_ledger_bad_version": "Client {client} tries to close its own: it has changed",
}
