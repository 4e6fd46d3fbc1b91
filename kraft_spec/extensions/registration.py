"""All extensions, put into the spec: each part exists only where its constant is on."""

from kraft_spec.extensions.defects import declare_defects
from kraft_spec.extensions.empty_disks import declare_empty_disks
from kraft_spec.extensions.membership_requests import declare_membership_requests
from kraft_spec.extensions.resignation import declare_resignation
from protocol_lab import Spec


def declare_extensions(spec: Spec) -> None:
    """Register the actions and properties of the extensions."""
    declare_defects(spec)
    declare_membership_requests(spec)
    declare_resignation(spec)
    declare_empty_disks(spec)
