"""KIP-853's story of a failed disk: join with an empty one, and have the lost identity removed.

What it adds to `kraft.kip_853`: both the requests of `kraft.kip_853_with_requests` and the empty
disks of `kraft.kip_853_with_empty_disks`. A server loses its disk; its host comes back as another
server, which asks to join, and an administrator has the lost one removed (scenario
disk_is_replaced).

What breaks: with identity_ignored what breaks in `kraft.kip_853_with_empty_disks`.

Left out: what `kraft.kip_853_with_requests` leaves out.

Source: KIP-853, "Disk Failure Recovery".
"""

from kraft_spec import kip_853_with_empty_disks as disks
from kraft_spec import kip_853_with_requests as requests
from kraft_spec.draw.additions import draw_disk_replacement
from kraft_spec.kip_853 import kip_853_spec
from kraft_spec.model import *
from protocol_lab import *

Constants = extends(disks.Constants)(requests.Constants)


class State(requests.State):
    """The fields of both variants."""

    aux_ctrs: disks.Counters


CONFIGURATIONS = (
    Configuration("default", "as kraft.kip_853, and no disk is lost", "11,852 distinct states"),
    Configuration(
        "one_disk",
        "one of two voters loses its disk, and one is removed, in one epoch",
        "8,543 distinct states",
        {
            "max_cluster_size": 2,
            "hosts": 2,
            "max_spawned_servers": 3,
            "max_epoch": 1,
            "max_values_per_epoch": 0,
            "max_crashes": 1,
            "max_disconnected_pairs": 2,
            "max_remove_reconfigs": 1,
            "max_messages_in_flight": 1,
        },
    ),
)


spec = kip_853_spec(
    "kip_853_disk_replacement",
    __doc__,
    state=State,
    constants=Constants,
    actions=requests.ACTIONS,
    draw=draw_disk_replacement,
    lifelines=(Server, requests.ADMINISTRATOR),
    configurations=CONFIGURATIONS,
)
requests.declare_requests(spec)
disks.declare_empty_disks(spec)
