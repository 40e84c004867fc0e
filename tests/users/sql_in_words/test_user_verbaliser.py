"""SQL in the words of a lay user: whole sentences for made-up snippets about a bakery."""

from __future__ import annotations

import json
import random

import pytest
from samples import examples
from users_contract import violations

from birdenv.users import BriefNotes
from birdenv.users.sql_in_words import read_aloud, verbalise

SENTENCES = [
    (
        "b.PricePerKg - 0.25 * ABS(b.DiscountPct) AS netprice",
        "the price per kg minus 0.25 times the absolute value of the discount pct",
    ),
    ("(f.crust_mm + f.crumb_mm) * 1000000.0", "(the crust mm plus the crumb mm) times 1000000.0"),
    ("a.x + b.y * 2", "the x plus the y times 2"),
    ("AVG(x - y)", "the average of (the x minus the y)"),
    ("COUNT(*)", "the number of cases"),
    ("COUNT(DISTINCT loaf_id) AS loaf_kinds", "the number of different loaf ids"),
    (
        "SUM(CASE WHEN weight_g > 500 THEN 1 ELSE 0 END)",
        "the number of cases where the weight g is greater than 500",
    ),
    (
        "CASE size WHEN 'L' THEN 3 WHEN 'M' THEN 2 ELSE 1 END * 10",
        "(3 if the size is 'L', 2 if it is 'M', otherwise 1) times 10",
    ),
    (
        "CASE WHEN rye >= 0.5 AND spelt <> 0 OR malt IS NULL THEN 'Dark' ELSE 'Light' END AS colour",
        (
            "'Dark' if (the rye is at least 0.5 and the spelt is not 0) or the malt is empty (has no "
            "value), otherwise 'Light'"
        ),
    ),
    ("ROUND(AVG(oven_temp), 2)", "the average of the oven temp, rounded to two decimals"),
    ("ROUND(..., 4)", "the figure, rounded to 4 decimals"),
    ("COALESCE(s.tips, 0)", "the tips, or 0 if it has no value"),
    ("total_sales / NULLIF(n_orders, 0)", "the total sales divided by (the n orders, or null if it is 0)"),
    (
        "CAST(json_extract(b.recipe, '$.flour.type_no') AS INTEGER)",
        "the flour type no",
    ),
    ("recipe -> 'flour' ->> 'brand'", "the flour brand"),
    ("price BETWEEN 1.50 AND 2.75", "the price is between 1.50 and 2.75"),
    ("grain IN ('rye', 'wheat', 'oat')", "the grain is one of 'rye', 'wheat' or 'oat'"),
    ("name NOT LIKE '%old%'", "the name does not match the pattern '%old%'"),
    ("NOT (stale = 1 OR sold = 0)", "not (the stale is 1 or the sold is 0)"),
    ("NOT a = 1", "not (the a is 1)"),
    ("NOT name IS NOT NULL", "not (the name has a value (is not empty))"),
    ("first_name || ' ' || last_name", "the first name joined with ' ' joined with the last name"),
    (
        "WHERE b.baked_at IS NOT NULL AND b.weight > 0",
        "only cases where the baked at has a value (is not empty) and the weight is greater than 0",
    ),
    ("HAVING COUNT(*) > 3", "only those where there are more than 3 cases"),
    (
        "ORDER BY total_sales DESC, shop_name",
        "sorted by total sales in descending order, then by shop name in ascending order",
    ),
    (
        "ORDER BY margin NULLS LAST LIMIT 10",
        "sorted by margin in ascending order with missing ones last; limited to the first 10",
    ),
    ("LIMIT 5", "limited to the first 5"),
    ("GROUP BY shop_id, weekday", "grouped by shop id and weekday"),
    (
        "LEFT JOIN ovens AS o ON o.oven_no = b.oven_ref",
        (
            "matched with further entries where the oven no equals the oven ref, also keeping entries "
            "that have no match"
        ),
    ),
    ("INNER JOIN", "matched with further entries, keeping only entries that have a match"),
    ("DISTINCT", "only different ones"),
    (
        "RANK() OVER (PARTITION BY shop ORDER BY revenue DESC) AS shop_rank",
        "the rank (within each shop; sorted by revenue in descending order)",
    ),
    (
        "SQRT(AVG(a*a) - AVG(a)*AVG(a))",
        "the square root of ((the average of (the a times the a)) minus (the average of the a) times "
        "the average of the a)",
    ),
    ("POWER(hours_open, 1.5)", "the hours open to the power of 1.5"),
    ("MAX(0, stock - sold)", "the highest of 0 and (the stock minus the sold)"),
    ("MIN(price)", "the lowest price"),
    (
        "SELECT DISTINCT baker_name FROM bakers WHERE trained = 'yes'",
        "show each different baker name only once; only cases where the trained is 'yes'",
    ),
    ("SELECT DISTINCT a, b FROM t", "show each different combination of the a and the b only once"),
    ("x IN (SELECT DISTINCT a FROM t)", "the x is among (the different a)"),
    (
        "SELECT l.name, COUNT(*) n FROM loaves l JOIN sales s ON s.loaf = l.id GROUP BY l.name",
        (
            "show the name, the number of cases; matched with further entries where the "
            "loaf equals the id; grouped by name"
        ),
    ),
    (
        (
            "WITH best_cte AS (SELECT shop, AVG(mark) AS m FROM reviews GROUP BY shop) SELECT shop "
            "FROM best_cte WHERE m > 4.5"
        ),
        (
            "first work out (the shop, the average of the mark (called m); grouped by shop); show the "
            "shop; only cases where the m is greater than 4.5"
        ),
    ),
    (
        "SELECT 'low' AS band UNION ALL SELECT 'high'",
        "show 'low'; together with (repeats included) 'high'",
    ),
    ("price > (SELECT AVG(price) FROM loaves)", "the price is greater than (the average of the price)"),
    (
        "EXISTS (SELECT 1 FROM recalls r WHERE r.loaf = l.id)",
        "there is at least one where the loaf equals the id",
    ),
    (
        "(julianday('now') - julianday(opened_on)) / 365.25",
        "(the number of days from the opened on to today) divided by 365.25",
    ),
    (
        "LOWER(TRIM(shop_name)) = 'o''brien''s'",
        "(the shop name without surrounding spaces) in lower case is \"o'brien's\"",
    ),
    ("baked_on >= date('now', '-3 months')", "the baked on is at least the date of today minus 3 months"),
    ("date('now', 'start of month')", "the date of today, moved by 'start of month'"),
    ("state = 'hot' OR state = 'warm' OR sold = 1", "the state is either 'hot' or 'warm' or the sold is 1"),
    ("n <> 1 AND n <> 2 AND n <> 3", "the n is not one of 1, 2 or 3"),
    (
        "CASE WHEN n < 1 THEN 'few' WHEN n BETWEEN 1 AND 9 THEN 'some' WHEN n IN (10, 11) THEN 'many' END",
        "'few' if the n is less than 1, 'some' if it is between 1 and 9, 'many' if (it is either 10 or 11)",
    ),
    (
        "CASE WHEN a < 1 THEN 'x' WHEN COUNT(*) > 5 THEN 'z' WHEN COUNT(*) > 2 THEN 'u' END",
        "'x' if the a is less than 1, 'z' if there are more than 5 cases, 'u' if there are more than 2 cases",
    ),
    (
        "CASE WHEN size = 1 THEN 'x' WHEN size_class = 2 THEN 'y' END",
        "'x' if the size is 1, 'y' if the size class is 2",
    ),
    ("COALESCE(tips, 0) > 5", "(the tips, or 0 if it has no value) is greater than 5"),
    ("(rye - spelt) AS lead", "the rye minus the spelt"),
    (
        "FROM loaves l JOIN ovens o ON o.id = l.oven",
        "matched with further entries where the id equals the oven",
    ),
    ("FROM loaves", "out of all there is"),
    ("THEN 'Fresh'", "'Fresh'"),
    ("WHEN age_h < 24 THEN 'Fresh'", "'Fresh' if the age h is less than 24"),
    ("x / 100) * 2", "(the x divided by 100) times 2"),
    ("-0.5 * saltPct", "minus 0.5 times the salt pct"),
    ("age_h % 24", "the age h modulo 24"),
    ("IIF(organic = 1, 1.2, 1)", "if (the organic is 1), then 1.2, otherwise 1"),
    ("SUM(v) FILTER (WHERE ok = 1)", "the total of the v (only cases where the ok is 1)"),
    (
        "AVG(p) OVER (ORDER BY d ROWS BETWEEN 6 PRECEDING AND CURRENT ROW)",
        (
            "the average of the p (sorted by d in ascending order; over the rows between 6 preceding and "
            "current row)"
        ),
    ),
    ("a.b /* hidden */ + 1 -- more", "the b plus 1"),
    ("price::numeric(10,2)", "the price"),
    ("crustiness_index(a, b)", "the crustiness index of the a and the b"),
    ("the loaves that nobody bought, by shop", "the loaves that nobody bought, by shop"),
    ("Loaves that nobody bought, by shop.", "loaves that nobody bought, by shop"),
    (
        "UPDATE loaves SET price = price * 0.9 WHERE age_h > 24",
        "set the price to (the price times 0.9); only cases where the age h is greater than 24",
    ),
    ("GROUP_CONCAT(topping, ', ')", "the list of the topping, joined with ', '"),
    ("STRFTIME('%Y-%m', sold_on)", "the year and month (YYYY-MM) of the sold on"),
    ("LAG(price, 1) OVER (ORDER BY d)", "the previous price (1 back) (sorted by d in ascending order)"),
]


@pytest.mark.parametrize(("snippet", "sentence"), SENTENCES)
def test_snippet_in_words(snippet: str, sentence: str) -> None:
    assert verbalise(snippet) == sentence


@pytest.mark.parametrize(
    "snippet", [snippet for snippet, _ in SENTENCES if "nobody" not in snippet and "::" not in snippet]
)
def test_the_sentences_keep_the_contract(snippet: str) -> None:
    assert violations(snippet, verbalise(snippet), frozenset({"loaves", "bakers", "ovens", "shops"})) == []


@pytest.mark.parametrize(
    ("snippet", "words", "complaint"),
    [
        ("a + 1.50", "the a plus 1.5", "has 1.50 fewer"),
        ("a - b", "the a and the b", "has 'minus' fewer"),
        ("a = 'Rye'", "the a equals 'rye'", "lacks the string 'Rye'"),
        ("SUM(a_b)", "the total of the a", "lacks the name 'a_b'"),
        ("SUM(a_b)", "the total of the a_b", "lacks the name"),
        ("SUM(a)", "the a", "lacks words for SUM"),
        ("l.price", "the price of l", "says 'l'"),
        ("price", "the price of loaves", "says 'loaves'"),
        ("SELECT a FROM t", "select the a", "has the shape of SQL"),
        ("a > 1", "the a > 1", "has the shape of SQL"),
    ],
)
def test_the_contract_can_fail(snippet: str, words: str, complaint: str) -> None:
    found = violations(snippet, words, frozenset({"loaves"}))
    assert any(complaint in item for item in found), found


def test_names_of_tables_and_of_steps_are_not_said() -> None:
    assert "best" not in verbalise("WITH best AS (SELECT SUM(price) AS p FROM loaves) SELECT p FROM best")


def test_a_condition_says_its_negation_in_its_own_words() -> None:
    assert verbalise("name NOT IN ('rye')") == "the name is not 'rye'"
    assert verbalise("NOT name IS NULL") == "the name has a value (is not empty)"
    assert verbalise("NOT EXISTS (SELECT r.loaf FROM recalls r)") == "there is no loaf"


FRAGMENTS = [
    ("/ h.size", "divided by the size"),
    ("* h.size", "times the size"),
    ("+ h.size", "plus the size"),
    ("|| ' kg'", "joined with ' kg'"),
    ("h.size /", "size divided by"),
    ("h.size * ", "size times"),
    ("h.size -", "size minus"),
    ("name ||", "name joined with"),
    ("= 5", "equals 5"),
    ("> 5 AND < 9", "is greater than 5 and is less than 9"),
    ("age <", "age is less than"),
    ("AND a > 1", "and also only cases where the a is greater than 1"),
    ("OR a = 1", "or also cases where the a is 1"),
    ("a > 1 AND", "a is greater than 1 and"),
    ("a > 1 OR", "a is greater than 1 or"),
    ("a / (SELECT COUNT(*) FROM t)", "the a divided by (the number of all cases)"),
    ("JOIN ovens o ON o.branch_id = b.branch_id", "matched with further entries by branch id"),
    ("o.branch_id = b.branch_id", "the branch id is the same"),
    ("(...sum of filled fields...) / 8.0", "(and so on sum of filled fields and so on) divided by 8.0"),
    ("ORDER BY ... DESC", "sorted by something in descending order"),
    ("a OR ... ", "the a or something"),
    ("*, crust_mm", "everything and the crust mm"),
    ("ROUND(CAST(...) AS REAL), 4)", "the figure, rounded to 4 decimals"),
    ("(0.7 * CASE ... END) + rye", "(0.7 times something) plus the rye"),
    (
        "COALESCE(rye, 0) ... COALESCE(oat, 1)",
        "(the rye, or 0 if it has no value) and (the oat, or 1 if it has no value)",
    ),
    ("CASE rye END END) / 4", "rye divided by 4"),
    ("age_h > 2 GROUP BY shop", "only cases where the age h is greater than 2; grouped by shop"),
    ("a.price FROM loaves a", "the price"),
    ("SUM(price * (1 + vat) AS gross", "the total of (the price times (1 plus the vat))"),
    ("CASE WHEN age_h < 24 THEN 'Fresh' -- the rest", "'Fresh' if the age h is less than 24"),
]


@pytest.mark.parametrize(("snippet", "sentence"), FRAGMENTS)
def test_fragments_lose_no_operator(snippet: str, sentence: str) -> None:
    assert verbalise(snippet) == sentence
    assert violations(snippet, sentence, frozenset({"loaves"})) == []


STEPS = [
    (
        "s.shop IN (SELECT shop FROM StaleLoaves)",
        "the shop is among those of the stale loaves",
    ),
    (
        "SELECT shop FROM StaleLoaves INTERSECT SELECT shop FROM soft_loaves",
        "show the shop of the stale loaves; but only what is also among those of the soft loaves",
    ),
    ("(SELECT COUNT(*) FROM StaleLoaves)", "(the number of stale loaves)"),
    ("LEFT JOIN StaleLoaves", "matched with stale loaves, also keeping entries that have no match"),
    ("s.shop IN (SELECT shop FROM qltyx)", "the shop is among those worked out before"),
    ("s.shop IN (SELECT shop FROM ovens)", "the shop is among those worked out before"),
]


@pytest.mark.parametrize(("snippet", "sentence"), STEPS)
def test_a_cte_of_another_part_is_called_by_its_name(snippet: str, sentence: str) -> None:
    assert verbalise(snippet, frozenset({"ovens", "shop"})) == sentence


GOLD = (
    "SELECT o.name, SUM(l.cost), COUNT(l.tray_id) FROM ovens o "
    "LEFT JOIN trays AS l ON l.first_oven_id = o.oven_id GROUP BY o.name",
)


@pytest.mark.parametrize(
    ("snippet", "sentence"),
    [
        ("SUM(COALESCE(l.cost, 0))", "the total of (the cost of the tray, or 0 if it has no value)"),
        ("l.cost * o.cost", "the cost of the tray times the cost of the oven"),
        ("l.cost > 2 AND l.cost < 5", "the cost of the tray is greater than 2 and the cost is less than 5"),
        ("l.weight_g", "the weight g"),
        ("x.cost", "the cost"),
        ("COUNT(DISTINCT l.title)", "the number of different titles of the tray"),
        ("ORDER BY o.name", "sorted by the name of the oven in ascending order"),
        (
            "CASE WHEN l.status = 'a' THEN 1 WHEN l.status = 'b' THEN 2 END",
            "1 if the status of the tray is 'a', 2 if it is 'b'",
        ),
        (
            "(SELECT AVG(l.cost) FROM trays l WHERE l.oven = o.oven)",
            "(the average of the cost of the trays where the oven is the same)",
        ),
        ("(SELECT COUNT(l.tray_id) FROM trays l)", "(the number of trays)"),
        ("9 - COUNT(l.tray_id)", "9 minus the number of trays by first oven"),
        ("9 - COUNT(o.oven_id)", "9 minus the number of ovens"),
    ],
)
def test_a_general_name_is_said_with_its_table(snippet: str, sentence: str) -> None:
    said = read_aloud(snippet, frozenset({"ovens", "trays"}), request="trays in ovens", gold=GOLD).text
    assert said == sentence
    alone = read_aloud(snippet, gold=("SELECT l.cost FROM trays l",)).text
    assert " of the tray" not in alone and " by first" not in alone


@pytest.mark.parametrize(
    ("gold", "counted"),
    [
        ("SELECT o.oven_id FROM ovens o JOIN trays t ON t.oven_id = o.oven_id GROUP BY o.oven_id", "trays"),
        ("SELECT t.oven_id FROM ovens o JOIN trays t ON t.oven_id = o.oven_id GROUP BY t.oven_id", "trays"),
        (
            "SELECT o.oven_id FROM ovens o LEFT JOIN trays t ON t.oven_id = o.oven_id GROUP BY o.oven_id",
            "cases",
        ),
        (
            "SELECT o.oven_id, COUNT(*) OVER () FROM ovens o JOIN trays t ON t.oven_id = o.oven_id"
            " GROUP BY o.oven_id",
            "cases",
        ),
        (
            "SELECT o.oven_id FROM ovens o JOIN trays t ON t.oven_id = o.oven_id, loaves l"
            " GROUP BY o.oven_id",
            "cases",
        ),
        (
            "SELECT o.oven_id FROM ovens o FULL JOIN trays t ON t.oven_id = o.oven_id GROUP BY o.oven_id",
            "cases",
        ),
        (
            "SELECT o.oven_id FROM ovens o JOIN (SELECT t.oven_id, t.tray_id FROM trays t"
            " GROUP BY t.oven_id, t.tray_id) k ON k.oven_id = o.oven_id"
            " JOIN loaves l ON l.oven_id = o.oven_id GROUP BY o.oven_id",
            "cases",
        ),
        ("SELECT o.kind FROM ovens o JOIN trays t ON t.oven_id = o.oven_id GROUP BY o.kind", "cases"),
        (
            "SELECT o.oven_id FROM ovens o JOIN (SELECT t.oven_id, t.tray_id, SUM(w) FROM trays t"
            " JOIN loaves l ON l.tray_id = t.tray_id GROUP BY t.oven_id, t.tray_id) k"
            " ON k.oven_id = o.oven_id GROUP BY o.oven_id",
            "trays",
        ),
    ],
)
def test_the_rows_that_are_counted_have_a_name(gold: str, counted: str) -> None:
    snippet = "HAVING COUNT(*) >= 3"
    known = frozenset({"ovens", "trays", "loaves", "oven_id"})
    said = read_aloud(snippet, known, request="Ovens, trays.", gold=(f"{gold} {snippet}",)).text
    assert said == f"only those where there are at least 3 {counted}"


def test_two_entries_of_one_column_are_told_apart() -> None:
    assert verbalise("e2.rye < e.rye OR e2.rye = e.rye") == (
        "the rye is less than that of the other entry or the rye is the same"
    )


@pytest.mark.parametrize("operator", ["/", "*", "-", "+", "||", "=", "<", ">", "<=", ">=", "<>", "AND", "OR"])
def test_an_operator_at_either_end_is_said(operator: str) -> None:
    for snippet in (f"{operator} crust", f"crust {operator}"):
        assert violations(snippet, verbalise(snippet), frozenset()) == []


def test_names_are_split_as_the_schema_spells_them() -> None:
    names = frozenset({"FreqDriftHzs", "freqdrifthzs", "Crust_MM", "LOAF"})
    assert verbalise("s.freqdrifthzs / crust_mm", names) == "the freq drift hzs divided by the crust mm"
    assert verbalise('"FREQDRIFTHZS"', names) == "the freq drift hzs"
    assert verbalise("loaf + oventemp", names) == "the loaf plus the oventemp"
    assert any("lacks" in v for v in violations("s.freqdrifthzs", "the freqdrifthzs", names))


@pytest.mark.parametrize("name", ["CrustScore", "crust_score", "CRUST_Score", "crustScore"])
def test_names_are_split_into_words(name: str) -> None:
    assert verbalise(f"t.{name}") == "the crust score"


def test_a_delete_without_a_table_is_read() -> None:
    assert verbalise("DELETE DELETE") == "remove entries"


def test_any_tokens_in_any_order_are_read() -> None:
    pieces = (
        "SELECT FROM WHERE GROUP BY ORDER LIMIT UNION JOIN LEFT ON WITH AS ( ) , ; CASE WHEN THEN ELSE END "
        "NOT IN IS NULL AND BETWEEN LIKE CAST( EXTRACT( OVER PARTITION ROWS FILTER -> :: [ ] * - || . ... "
        "t.b 'x' 12 'open DISTINCT EXISTS VALUES UPDATE SET DELETE FETCH NULLS COLLATE COUNT( LAG("
    ).split()
    chance = random.Random(7)
    for _ in range(examples(120) * 25):
        snippet = " ".join(chance.choice(pieces) for _ in range(chance.randint(0, 14)))
        assert isinstance(verbalise(snippet), str)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "piece", ["(", "(a", "CASE WHEN ", "NOT ", "(SELECT ", "a AS (", "x -> ", "OVER (", "CAST("]
)
def test_nesting_beyond_reason_is_read(piece: str) -> None:
    assert isinstance(verbalise(piece * 2000), str)


def test_a_long_formula_is_said_in_steps() -> None:
    part = "ABS(crust_depth - 4) * (rye_share + spelt_share + wheat_share - 2 * loss_share)"
    text = verbalise(
        f"ROUND(({part}) / ({part.replace('rye', 'oat')}) + ({part.replace('rye', 'emmer')}), 2)"
    )
    lead, _, steps = text.partition(". Here ")
    assert lead.endswith("rounded to two decimals")
    assert all(len(step.split()) <= 40 for step in [lead, *steps.split("; ")])
    assert {"rye", "oat", "emmer"} <= set(steps.split())


def test_columns_are_called_by_their_meanings() -> None:
    notes = BriefNotes(
        {
            "powratew": "SMALLINT specifying the power rating of the oven in watts.",
            "region": "Region of the bakery.",
            "recipe": '{"fields_meaning": {"size": {"crst": "REAL. Crust size."}}}',
        },
        {},
    )
    said = read_aloud("powratew > 3 AND region = json_extract(recipe, '$.size.crst')", notes=notes).text
    assert said == "the power rating in W is greater than 3 and the region equals the crust size"


@pytest.mark.parametrize(
    ("column", "meaning", "words"),
    [
        ("oven_temp_c", "REAL. Oven temperature in Celsius.", "oven temperature in Celsius"),
        ("maint_date", "Date of the next maintenance of the oven.", "maintenance date"),
        ("prov_val", "Proven value, or that of the province.", "prov value"),  # unclear
        ("co2_lvl", "CO2 level; the concentration in the room.", "co 2 level"),
        ("signed_up_on", "Date of the first order.", "signed-up-on date"),
        ("drill_no", "Number of drills for fires.", "drill no"),
        ("bak_oven2doughamt", "Amount of dough in oven 2 of the bakery.", "bakery oven 2 dough amount"),
        ("maint_oven", "Oven in the maintenance, as in Maintenance(MaintOven).", "maintenance oven"),
        ("duration_min", "Duration in minutes.", "duration in minutes"),
        ("flourloadkgm2", "INT. Flour load of the floor in kg/m².", "flour load in kg/m2"),
        ("ovenheatw", "Heat of the oven in watts.", "oven heat in W"),
        ("ovenheatw", "Heat of the oven on Wednesdays.", "oven heatw"),
        ("team_2", "Number of the second team.", "team 2"),
        ("bakmethod", "An enum (bakery_method_enum) for the way.", "bakery method"),
    ],
)
def test_each_part_of_a_name_is_spelt_out_by_the_meaning(column: str, meaning: str, words: str) -> None:
    entry = {"fields_meaning": {"oven": {column: meaning}}}
    notes = BriefNotes({column: meaning, "recipe": json.dumps(entry)}, {})
    assert read_aloud(column, notes=notes).text == f"the {words}"
    said = read_aloud(f"json_extract(recipe, '$.oven.{column}')", notes=notes).text
    assert said.startswith(f"the {words}")


NOTES = BriefNotes(
    {
        "crstwt": "A REAL measuring crust weight in grams.",
        "kneadsim": "NUMERIC(7,4). Similarity of kneading (e.g., 0.8).",
        "mixkind": "An enum (MixType_enum) describing mixing method (slow, fast).",
        "ovnref": "A CHAR(12) referencing OvenRecords(OvnKey).",
        "crststate": "crust_condition_enum (enum: 'soft', 'hard').",
        "kqx": "NUMERIC(7,3) indicating the kneading (was 'KneadQuality').",
        "recipe": json.dumps(
            {
                "fields_meaning": {
                    "flour": {"grams": "REAL. Grams.", "extrc": "REAL. Extraction of flour."},
                    "water": {"grams": "REAL. Grams.", "level": "INT. Level."},
                }
            }
        ),
    },
    {
        1: "Loaf Hardness Index (LHI). Hard loaves. LHI = crstwt / kneadsim",
        2: "Dough Age Score (DAS). Age.",
        3: "Dough Acid Share (DAS). Acid.",
        4: "CrstWt (Heaviness). Weight.",
    },
)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lhi", "loaf hardness index"),
        ("avg_lhi", "average loaf hardness index"),
        ("das", "das"),  # two terms
        ("max_heaviness", "max heaviness"),  # no abbreviation
        ("kneadsim", "kneading similarity"),  # a name in a formula is no word
        ("total_kneadsim", "total kneading similarity"),
        ("max_extrc", "max extraction"),  # an entry of a JSON column
        ("mixkind", "mixing method"),
        ("ovnref", "oven record reference"),
        ("crststate", "crust condition"),
        ("kqx", "knead quality"),
    ],
)
def test_a_name_that_is_no_word_is_said_by_what_it_stands_for(name: str, words: str) -> None:
    assert read_aloud(name, notes=NOTES).text == f"the {words}"


@pytest.mark.parametrize(
    ("path", "words"),
    [("flour.grams", "flour grams"), ("water.grams", "water grams"), ("water.level", "water level")],
)
def test_entries_with_the_same_name_are_told_apart(path: str, words: str) -> None:
    assert read_aloud(f"json_extract(recipe, '$.{path}')", notes=NOTES).text == f"the {words}"


@pytest.mark.parametrize(
    "meaning",
    [
        "{",
        '{"fields_meaning": "text"}',
        '{"fields_meaning": ["a", {"b": "c"}]}',
        '{"fields_meaning": null}',
        '{"fields_meaning": {"a": 1}}',
        '{"fields_meaning": ' + '{"a": ' * 5000 + "1" + "}" * 5001,
    ],
)
def test_a_damaged_meaning_of_a_json_column_is_no_obstacle(meaning: str) -> None:
    notes = BriefNotes({"recipe": meaning}, {1: "No term here"})
    said = read_aloud("json_extract(recipe, '$.flour.grams') > max_recipe", notes=notes).text
    assert said == "the flour grams is greater than the max recipe"


def test_a_sort_key_for_missing_values_is_said_with_its_key() -> None:
    for key in ("a IS NULL", "CASE WHEN a IS NULL THEN 1 ELSE 0 END", "a IS NOT NULL DESC"):
        said = verbalise(f"ORDER BY {key}, a DESC")
        assert said == "sorted by a in descending order with missing ones last"
