"""Keeps an agent's conversation whole.

    import antiphon

    antiphon.check(items)               # what a provider would refuse, in its own words
    antiphon.repair(items).items        # the list that it accepts
    antiphon.reconcile(held, items)     # what of it the owner of the conversation has already

Items are those of the Responses and Conversations APIs: dicts or the openai SDK's models. What
stays as it is comes back as the very object that was given; nothing that is given is changed.

- `antiphon.Tracker`: what a server that owns the state has, lacks, and is being sent.
- `antiphon.faults`: a class for each kind of fault.
- `antiphon.openai`: the plain openai SDK with all of this inside; and modules for frameworks.

All of it may be called from several threads, which go on while the engine works.
"""

from antiphon._errors import TrackerError, Unreadable
from antiphon._native import __version__
from antiphon._reconcile import Verdict, reconcile
from antiphon._repair import Mend, Repaired, check, filter_orphaned_reasoning, repair, strip
from antiphon._tracker import LeftOut, Plan, Planned, Tracker, Unanswered, Unresolved
from antiphon.faults import (
    DuplicateCall,
    DuplicateItem,
    DuplicateOutput,
    EmptyCallId,
    Fault,
    ForeignContent,
    LoneReasoning,
    MalformedId,
    MissingCallId,
    MissingReasoning,
    OutputWithoutCall,
    OverlongCallId,
    OverlongId,
    ResentItem,
    UnansweredCall,
    UnresolvedReference,
)

__all__ = [
    "DuplicateCall",
    "DuplicateItem",
    "DuplicateOutput",
    "EmptyCallId",
    "Fault",
    "ForeignContent",
    "LeftOut",
    "LoneReasoning",
    "MalformedId",
    "Mend",
    "MissingCallId",
    "MissingReasoning",
    "OutputWithoutCall",
    "OverlongCallId",
    "OverlongId",
    "Plan",
    "Planned",
    "Repaired",
    "ResentItem",
    "Tracker",
    "TrackerError",
    "UnansweredCall",
    "Unanswered",
    "Unreadable",
    "Unresolved",
    "UnresolvedReference",
    "Verdict",
    "__version__",
    "check",
    "filter_orphaned_reasoning",
    "reconcile",
    "repair",
    "strip",
]
