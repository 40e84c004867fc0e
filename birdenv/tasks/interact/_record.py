"""The records in BIRD-Interact's task files (lite, full and mini), in a uniform format."""

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
    """Return a field as a list. Its value is a list, a JSON list as text, other text (one item), or null."""
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
    """The `conditions` of a request, which decide how result rows are compared.

    Attributes:
        decimal: the number of decimal places that numbers are rounded to; a negative value means 2.
        distinct: False to remove the DISTINCT of the outermost SELECT from both queries.
        order: True if the order of rows matters.
    """

    decimal: int = -1
    distinct: bool | None = None
    order: bool = False


class AmbiguityRecord(_Model):
    """One annotated ambiguity of a request.

    Attributes:
        term: the ambiguous words in the request.
        sql_snippet: the part of the gold SQL that expresses the meaning of the words.
        is_mask: the field of the same name in the files; birdenv does not use it.
        type: the type of the ambiguity; empty if the file does not specify it.
        deleted_knowledge: the ids of the knowledge entries that are hidden from the system. In the files, the
            value is an id, a list of ids or null.
    """

    term: str
    sql_snippet: str = ""
    is_mask: bool = False
    type: str = ""
    deleted_knowledge: Annotated[tuple[StrictInt, ...], BeforeValidator(_as_ids)] = ()


class QueryAmbiguityRecord(_Model):
    """The annotated ambiguities in the wording of a request.

    Attributes:
        critical_ambiguity: the ambiguities that must be resolved to write correct SQL.
        non_critical_ambiguity: the other ambiguities, which do not count for the budget.
    """

    critical_ambiguity: tuple[AmbiguityRecord, ...] = ()
    non_critical_ambiguity: tuple[AmbiguityRecord, ...] = ()


class _Solution(_Model):
    sol_sql: _Texts = ()
    external_knowledge: Annotated[tuple[StrictInt, ...], BeforeValidator(_as_list)] = ()
    test_cases: _Texts = ()
    grading: Literal["tests", "state"] | None = None


class FollowUpRecord(_Solution):
    """The follow-up request of a task.

    Attributes:
        query: the request; empty if the task has no follow-up.
        type: the type of the follow-up; empty if the file does not specify it.
        category: `Query` or `Management`; None if the file does not specify it.
        conditions: how results are compared; None if the file does not specify them.
        candidates: SQL statements that agents can choose from; an addition of birdenv to the format.
    """

    query: str = ""
    type: str = ""
    category: Category | None = None
    conditions: ConditionsRecord | None = None
    candidates: tuple[str, ...] = ()

    def category_below(self, parent: Category) -> Category:
        """Return the follow-up's category.

        A follow-up without a category is a Management request if it has test cases or is graded by the
        database state; otherwise, it has the category `parent` of the main task.
        """
        return self.category or ("Management" if self.test_cases or self.grading == "state" else parent)


class TaskRecord(_Solution):
    """A task in a BIRD-Interact file (see "Data Fields" in its README, and docs/data-formats.md).

    Attributes:
        instance_id: the id of the task.
        selected_database: the name of the database.
        amb_user_query: the ambiguous request.
        query: the clear request.
        category: `Query` if the gold SQL reads data, `Management` if it changes the database.
        high_level: True if the request is phrased in general terms; None if the file does not specify it.
        difficulty_tier: the difficulty; None if the file does not specify it.
        conditions: how results are compared; None if the file does not specify them.
        preprocess_sql: the statements that prepare the database.
        clean_up_sqls: the statements that clean up the database.
        user_query_ambiguity: the ambiguities in the wording of the request.
        knowledge_ambiguity: the ambiguities caused by missing knowledge.
        follow_up: the follow-up request; None if there is none.
        candidates: SQL statements that agents can choose from; an addition of birdenv to the format.
        annotated: the two fields about ambiguities, unchanged from the file.
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
    """Yield a warning for each unknown field with a name that resembles a missing field.

    All other unknown fields are ignored, because the published files contain some.
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
    """Yield the names of a record's fields in files, each with the model of its objects, if it has one."""
    for name, field in model.model_fields.items():
        held = [field.annotation, *get_args(field.annotation)]
        inner = next((each for each in held if isinstance(each, type) and issubclass(each, BaseModel)), None)
        alias = field.validation_alias
        for each in alias.choices if isinstance(alias, AliasChoices) else [name]:
            yield str(each), inner


def parse_record(record: Mapping[str, Any], where: str) -> TaskRecord:
    """Validate a record from a task file, and return it as a model.

    Args:
        record: the record as read from the file.
        where: the position of the record, for error messages.

    Raises:
        InputError: a field is missing or invalid; the message names the position and the first such field.
    """
    annotated = {name: record.get(name) for name in ("user_query_ambiguity", "knowledge_ambiguity")}
    return parsed(TaskRecord, {**record, "annotated": annotated}, where)
