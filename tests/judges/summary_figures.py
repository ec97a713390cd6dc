"""How much the real judge agrees with people on the real summaries: κ to three decimals, and n."""

from tests.judges.summaries import Rating

FIGURES = {
    Rating("coherence", "altrts"): (0.108, 1_200),
    Rating("coherence", "mcq"): (0.395, 1_200),
    Rating("coherence", "altmcq"): (0.397, 1_200),
    # Of 159 replies with words for numbers none counts, or each does, "one out of five" as five.
    Rating("coherence", "rts"): (0.380, 1_041),
    Rating("coherence", "rts", words=True): (0.291, 1_200),
    Rating("relevance", "rts"): (0.419, 1_195),
    Rating("relevance", "altmcq"): (0.194, 1_200),
}
