"""Builtin graders on the wire: what Autotune scores by itself, without a grader process.

Texts are templates: ``{{ item.x }}`` is a field of the completion's metadata (``item.prompt`` is
its prompt, unless metadata has a ``prompt``), ``{{ sample.output_text }}`` its response and
``{{ sample.output_json.x }}`` a field of the response, where that is JSON. Paths go on as in
``item.choices[0].text``. A field that is missing or null makes a completion ``failed`` with
``builtin_input_missing``; it is never 0.0. The vocabulary is that of OpenAI's graders.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from autotune.protocol import limits
from autotune.protocol.types import NonNegative, RequestModel, UnitInterval, at_most

StringOperation = Literal["eq", "ne", "like", "ilike"]
SimilarityMetric = Literal[
    "fuzzy_match", "bleu", "gleu", "rouge_1", "rouge_2", "rouge_3", "rouge_4", "rouge_5", "rouge_l"
]
NumberPlace = Literal["last_number", "boxed", "regex"]

Template = Annotated[str, StringConstraints(max_length=limits.MAX_BUILTIN_TEMPLATE_CHARACTERS)]
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=limits.MAX_PATTERN_CHARACTERS)]
GraderKey = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
"""Names a grader in ``calculateOutput``: letters, digits and underscores, no digit first."""

RESPONSE = "{{ sample.output_text }}"


class ExactMatch(RequestModel):
    """1 where both texts are the same, else 0.

    ``trim`` ignores white space around them, ``ignore_case`` upper and lower case.
    """

    type: Literal["exact_match"]
    input: Template = RESPONSE
    reference: Template
    trim: bool = True
    ignore_case: bool = False


class StringCheck(RequestModel):
    """1 where the operation holds, else 0.

    ``eq`` and ``ne`` compare the texts exactly; ``like`` is whether ``input`` contains
    ``reference``, ``ilike`` the same in any case.
    """

    type: Literal["string_check"]
    input: Template = RESPONSE
    reference: Template
    operation: StringOperation


class TextSimilarity(RequestModel):
    """How alike two texts are, from 0 to 1; the same text is always 1.

    With ``pass_threshold`` a dimension ``passed`` is whether the value reaches it; the value
    itself stays as it is.
    """

    type: Literal["text_similarity"]
    input: Template = RESPONSE
    reference: Template
    metric: SimilarityMetric
    pass_threshold: UnitInterval | None = None


class Numeric(RequestModel):
    r"""1 where the number in ``input`` equals that in ``reference`` within tolerance, else 0.

    The number is the last one, that in the last ``\boxed{}``, or that in the last match of
    ``pattern`` (its first group, if it has one). The larger tolerance counts; the relative one is
    a share of the reference. An ``input`` without a number is wrong, and 0; a ``reference``
    without one makes the completion ``failed`` with ``builtin_input_missing``.
    """

    type: Literal["numeric"]
    input: Template = RESPONSE
    reference: Template
    extract: NumberPlace = "last_number"
    pattern: Pattern | None = None
    absolute_tolerance: NonNegative = 0.0
    relative_tolerance: NonNegative = 0.0


class JsonSchema(RequestModel):
    """1 where ``input`` is JSON, nothing around it, and valid against ``schema``, else 0.

    ``schema`` is of draft 2020-12, unless its ``$schema`` names another. References stay within
    it, and its patterns are those of RE2: no look-around, no back-references.
    """

    type: Literal["json_schema"]
    input: Template = RESPONSE
    json_schema: Annotated[dict[str, Any], Field(alias="schema")]


SingleBuiltin = Annotated[
    ExactMatch | StringCheck | TextSimilarity | Numeric | JsonSchema, Field(discriminator="type")
]


class Multi(RequestModel):
    """Several graders, and a formula over their values, such as ``(name + email) / 2``.

    ``calculate_output`` knows ``+ - * / ^``, parentheses, ``min``, ``max``, ``abs``, ``floor``,
    ``ceil``, ``exp``, ``sqrt`` and ``log``. A value outside 0 to 1 makes the completion ``failed``
    with ``builtin_out_of_range``. Each grader's value is a dimension of its name.
    """

    type: Literal["multi"]
    graders: Annotated[
        dict[GraderKey, SingleBuiltin],
        Field(min_length=1, max_length=limits.MAX_MULTI_GRADERS),
        at_most(limits.MAX_MULTI_GRADERS),
    ]
    calculate_output: Annotated[
        str, StringConstraints(min_length=1, max_length=limits.MAX_EXPRESSION_CHARACTERS)
    ]


BuiltinConfiguration = Annotated[
    ExactMatch | StringCheck | TextSimilarity | Numeric | JsonSchema | Multi,
    Field(discriminator="type"),
]
