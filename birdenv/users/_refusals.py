"""Which questions a user does not answer: for SQL, names in the database, the answer, instructions.

A question may name an annotated term and still ask for one of these ("which column holds the <term>?"), so
the encoder leaves the term's words out before it asks here; a question *about* a term called "sql" is then
not taken for a request for SQL.
"""

from __future__ import annotations

import re

__all__ = ["out_of_scope"]

_OWN_WORK = re.compile(
    r"\b(?:to|i|we|before|when|while|for|so) (?:(?!you\b)\w+ ){0,2}?"
    r"(?:writ(?:e|ing)|build(?:ing)?|generat(?:e|ing)|construct(?:ing)?|compos(?:e|ing)|produc(?:e|ing)"
    r"|creat(?:e|ing)|formulat(?:e|ing)|prepar(?:e|ing)|get(?:ting)?) (?:\w+ ){0,4}?"
    r"(?:sql|quer(?:y|ies)|statement|code|answer|solution|result)s?(?: (?:query|statement|code))?\b"
    r"|\b(?:in|for|of) my (?:sql|query)(?: query)?\b"
)
_ALWAYS = re.compile(
    r"\b(?:sql|ground truth|gold(?:en)? (?:answer|query|standard|solution)"
    r"|(?:reference|sample|model) (?:answer|query|solution)|annotat\w*|snippets?"
    r"|system prompt|schema|ddl|primary key|foreign key"
    r"|(?:ignore|disregard|forget|override) (?:\w+ ){0,3}?(?:instructions?|rules?|prompts?)"
    r"|(?:your|hidden|secret) (?:\w+ )?(?:instructions?|prompts?)"
    r"|database (?:structure|name|layout)"
    r"|(?:correct|final|expected|right|full|complete) (?:answer|solution|query|code|statement)s?"
    r"|(?:correct|expected) (?:result|output)s?"
    r"|(?:give|tell|show|provide|reveal|what is|what s|send|write) (?:\w+ ){0,3}?"
    r"(?:answer|solution|code|query|queries|statement|clear question|original question))\b"
)
_NAMES = re.compile(
    r"\b(?:(?:which|what|names? of the|name the|list (?:the|all)|all the) (?:\w+ ){0,2}?"
    r"(?:tables?|columns?|fields?|relations?|attributes?|databases?)"
    r"|(?:table|column|field|attribute|database)s? (?:names?|(?:is|are) (?:called|named)))\b"
)
_OUTPUT_COLUMNS = re.compile(
    r"\b(?:which|what) (?:\w+ )?(?:columns?|fields?|attributes?)"
    r" (?:should|do you want|would you like|are to|must|to)\b"
)


def out_of_scope(text: str) -> bool:
    """Whether `text` (words of a question, lower case, one space between) asks for what a user never tells.

    An asker's remark about its own work ("to write the query, ..") is no request; which columns the output
    should have is a fair question.
    """
    text = _OWN_WORK.sub(" ", text)
    if _ALWAYS.search(text):
        return True
    return _NAMES.search(_OUTPUT_COLUMNS.sub(" ", text)) is not None
