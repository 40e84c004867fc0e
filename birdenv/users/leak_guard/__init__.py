"""Block answers that would reveal a task's solution, whether a program, a model or a person answers.

BIRD-Interact leaves this to a prompt (§3.4); here it is code. An answer is replaced as a whole, with a
reason, if it

* looks like SQL: a statement's skeleton, a function call, `alias.column`, `IN (..`, a code fence;
* mentions a reference solution: "ground truth", "gold SQL", "the solution", "benchmark", "snippet", "SQL";
* contains a name from the schema or the gold SQL that is not in the granted snippets, if the name looks like
  an identifier (see `users.identifiers`; ordinary words such as "status" pass);
* repeats six consecutive words from the gold SQL, or from an annotated snippet that was not granted, unless
  a granted snippet contains them, too; or repeats a comparison from this SQL as written (`tier = 'x'`);
* repeats eight consecutive words from the clear question that are in no granted snippet or term;
* repeats a long run of letters from the SQL or the clear question, whatever separates the letters, and even
  if it is reversed, written with digits for letters, or encoded in rot13, base64, base32, hexadecimal or
  decimal codes.

Before these checks, tricks are undone: compatibility forms, invisible characters, accents, look-alike
letters, letters spaced apart, comments inside words. Text that a granted snippet quotes ('Gold', '$.a.b') is
removed first, because the user may say it.

The guard promises that no secret gets through verbatim or in one of these disguises, and that plain sentences
about granted points pass. It cannot recognise a paraphrase of the clear question or of the SQL, or a code
that two accomplices agreed on (initial letters, a cipher, one word per turn). Anybody who is determined to
pass on a secret can encode it: the guard catches leaks, but does not break ciphers.
"""

from birdenv.users.leak_guard._leak_guard import CANNED, GuardedAnswer, guard_answer

__all__ = ["CANNED", "GuardedAnswer", "guard_answer"]
