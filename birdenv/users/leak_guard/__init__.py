"""Block answers that would give the solution of a task away, whether a program, a model or a person answers.

BIRD-Interact leaves this to a prompt (§3.4); here it is code. An answer is replaced as a whole, with a
reason, if it

* has the shape of SQL: a statement's skeleton, a function call, `alias.column`, `IN (..`, a code fence;
* mentions a reference solution: "ground truth", "gold SQL", "the solution", "benchmark", "snippet", "SQL";
* spells a name of the schema (or of the gold SQL) that is not in the granted snippets, if the name looks
  like an identifier (`users.identifiers` has the rule; ordinary words such as "status" pass);
* repeats six words in a row of the gold SQL, or of an annotated snippet that was not granted, unless a
  granted snippet has them, too; or repeats one of their comparisons in signs (`tier = 'x'`);
* repeats eight words in a row of the clear question that are in no granted snippet or term;
* repeats a long run of letters of the SQL or of the clear question, whatever separates the letters: also
  backwards, with digits for letters, in rot13, base64, base32, hexadecimal or decimal codes.

Before that, tricks are undone: compatibility forms, invisible signs, accents, look-alike letters, letters
spaced apart, comments inside words. Text that a granted snippet quotes ('Gold', '$.a.b') is taken out first,
because the user may say it.

The guard promises that no secret leaves verbatim or in one of these disguises, and that plain sentences about
granted points pass. It cannot recognise a paraphrase of the clear question or of the SQL, or a code that two
accomplices agreed on (initial letters, a cipher, one word a turn). Anybody who is determined to pass on a
secret can encode it: the guard is a net against leaks, and does not break ciphers.
"""

from birdenv.users.leak_guard._leak_guard import CANNED, GuardedAnswer, LeakGuard, guard_answer, leak_guard

__all__ = ["CANNED", "GuardedAnswer", "LeakGuard", "guard_answer", "leak_guard"]
