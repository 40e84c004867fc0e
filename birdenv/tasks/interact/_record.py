"""The records of the lite, full and mini files of BIRD-Interact, with their irregularities removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, StrictInt

from birdenv.errors import InputError
from birdenv.files import check_text, parse_json
from birdenv.grading.interact import Category
from birdenv.tasks.sql._records import Filled, parsed

_ALIKE: Final = 0.8  # the similarity for `get_close_matches`, as of "difficulty" and "difficulty_tier"


def _as_list(value: Any) -> Any:
    """Return a list: a list unchanged, the JSON list in a text, another text as one item, null as empty."""
    if value is None:
        return []
    if not isinstance(value, str):
        return value
    try:
        parsed = parse_json(value, "")
        check_text(parsed, "")
    except InputError:
        parsed = None
    items = parsed if isinstance(parsed, list) else [value]
    return [item for item in items if str(item).strip()]


def _or_nothing(value: Any) -> Any:
    return value or ()


def _as_ids(value: Any) -> Any:
    if value is None:
        return ()
    return (value,) if isinstance(value, int) else value


_Texts = Annotated[tuple[str, ...], BeforeValidator(_as_list)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class ConditionsRecord(_Model):
    """The conditions of a task, which decide how results are compared."""

    decimal: int = -1
    distinct: bool | None = None
    order: bool = False


class AmbiguityRecord(_Model):
    """One annotated ambiguity. In the files, `deleted_knowledge` is an id, a list of ids or null."""

    term: str
    sql_snippet: str = ""
    is_mask: bool = False
    type: str = ""
    deleted_knowledge: Annotated[tuple[StrictInt, ...], BeforeValidator(_as_ids)] = ()


class QueryAmbiguityRecord(_Model):
    """The annotated ambiguities of a request, divided into critical and non-critical ones."""

    critical_ambiguity: tuple[AmbiguityRecord, ...] = ()
    non_critical_ambiguity: tuple[AmbiguityRecord, ...] = ()


class _Solution(_Model):
    sol_sql: _Texts = ()
    external_knowledge: Annotated[tuple[StrictInt, ...], BeforeValidator(_as_list)] = ()
    test_cases: _Texts = ()
    grading: Literal["tests", "state"] | None = None


class FollowUpRecord(_Solution):
    """The follow-up of a task."""

    query: str = ""
    type: str = ""
    category: Category | None = None
    conditions: ConditionsRecord | None = None
    candidates: tuple[str, ...] = ()

    def category_below(self, parent: Category) -> Category:
        """Return the category of the follow-up; if it has none, infer one from its tests or from `parent`."""
        return self.category or ("Management" if self.test_cases or self.grading == "state" else parent)


class TaskRecord(_Solution):
    """One task of a file, with the fields of all three files (BIRD-Interact README, 'Data Fields').

    `annotated` contains the two fields of ambiguities unchanged.
    """

    instance_id: Filled
    selected_database: str
    amb_user_query: Filled
    query: str = ""
    category: Category = "Query"
    high_level: bool | None = None
    difficulty_tier: str | None = None
    conditions: ConditionsRecord | None = None
    preprocess_sql: _Texts = ()
    clean_up_sqls: _Texts = Field((), validation_alias=AliasChoices("clean_up_sqls", "clean_up_sql"))
    user_query_ambiguity: QueryAmbiguityRecord = QueryAmbiguityRecord()
    knowledge_ambiguity: Annotated[tuple[AmbiguityRecord, ...], BeforeValidator(_or_nothing)] = ()
    follow_up: Annotated[FollowUpRecord | None, BeforeValidator(lambda value: value or None)] = None
    candidates: tuple[str, ...] = ()
    annotated: Mapping[str, Any] = {}


def misspelt_fields(record: Mapping[str, Any], model: type[BaseModel] = TaskRecord) -> Iterator[str]:
    """Yield a message for each unknown field whose name resembles that of a missing field.

    Other unknown fields are ignored, because the published files have some.
    """
    known = dict(_named_fields(model))
    for name, value in record.items():
        if name not in known:
            close = get_close_matches(name, [each for each in known if each not in record], 1, _ALIKE)
            if close:
                yield f"{name} is not a known field: did you mean {close[0]}?"
            continue
        inner = known[name]
        places = enumerate(value) if isinstance(value, list) else [(None, value)]
        for place, each in places:
            if inner is not None and isinstance(each, Mapping):
                where = name if place is None else f"{name}[{place}]"
                yield from (f"{where}.{found}" for found in misspelt_fields(each, inner))


def _named_fields(model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel] | None]]:
    """Yield the names of all fields in a file, each with the model of the objects that it holds, if any."""
    for name, field in model.model_fields.items():
        held = [field.annotation, *get_args(field.annotation)]
        inner = next((each for each in held if isinstance(each, type) and issubclass(each, BaseModel)), None)
        alias = field.validation_alias
        for each in alias.choices if isinstance(alias, AliasChoices) else [name]:
            yield str(each), inner


def parse_record(record: Mapping[str, Any], where: str) -> TaskRecord:
    """Validate a record of a task file.

    Raises:
        InputError: a field is missing or wrong; the message names `where` and the first such field.
    """
    annotated = {name: record.get(name) for name in ("user_query_ambiguity", "knowledge_ambiguity")}
    return parsed(TaskRecord, {**record, "annotated": annotated}, where)
