"""Keeps an agent's conversation state correct.

    import antiphon

    antiphon.check(items)               # faults that a provider would reject, with its error texts
    antiphon.repair(items).items        # the repaired list, which a provider accepts
    antiphon.reconcile(held, items)     # for each item: whether the conversation holds it already

Items are those of the Responses and Conversations APIs: dicts or the openai SDK's models. An item
that needs no change is returned as the same object. The functions never modify their arguments.

- `antiphon.Tracker`: tracks the items that a server has, lacks, and is being sent.
- `antiphon.convert`: converts a model's answer to another API, with well-formed events.
- `antiphon.faults`: a class for each kind of fault.
- `antiphon.openai`: wraps the plain openai SDK; other modules support frameworks.

All functions are thread-safe, and release the interpreter's lock while the engine works.
"""

from antiphon._convert import Converted, convert
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
    MissingId,
    MissingReasoning,
    OutputWithoutCall,
    OverlongCallId,
    OverlongId,
    ResentItem,
    UnansweredCall,
    UnresolvedReference,
)

__all__ = [
    "Converted",
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
    "MissingId",
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
    "convert",
    "filter_orphaned_reasoning",
    "reconcile",
    "repair",
    "strip",
]
