"""Stop a user's words that would give the task away, whoever the user is: rules, a model, a person.

BIRD-Interact leaves this to a prompt (§3.4); here it is code. An answer is replaced as a whole, with a
reason, if it

* has the shape of SQL: a statement's skeleton, a function call, `alias.column`, `IN (..`, a code fence;
* speaks of a reference: "ground truth", "gold SQL", "the solution", "benchmark", "snippet", "SQL";
* spells a name of the schema (or of the gold SQL) that is not in the granted snippets, if the name looks
  like an identifier (`users._identifiers` has the rule; ordinary words such as "status" pass);
* repeats six words in a row of the gold SQL, or of an annotated snippet that was not granted, which are in
  no granted snippet; or a comparison of theirs in signs (`tier = 'x'`);
* repeats eight words in a row of the clear question that are in no granted snippet or term;
* has a stretch of letters of either, whatever stands between them, backwards, with digits for letters, in
  rot13, base64, base32, hexadecimal or decimal codes (`_disguises.py`).

Before that, tricks are undone: compatibility forms, invisible signs, accents, look-alike letters, letters
spaced apart, comments inside words. What a granted snippet quotes ('Gold', '$.a.b') is taken out first: the
user may say it.

What it promises: nothing leaves verbatim, nor in the everyday disguises above, and plain sentences about what
was granted pass. What it cannot: recognise a paraphrase of the clear question or of the SQL in other words,
or a code that two accomplices agreed on (initial letters, a cipher, one word a turn). Whoever is determined
to pass a secret can always encode it; this is a net against leaks, no breaker of ciphers.
"""

from birdenv.users.leak_guard._leak_guard import CANNED, GuardedAnswer, LeakGuard, guard_answer, leak_guard

__all__ = ["CANNED", "GuardedAnswer", "LeakGuard", "guard_answer", "leak_guard"]
