"""How far a judge agrees with people, as numbers: numpy alone, and nothing of the platform.

Levels are whole numbers from -3 to +3. An array of levels is of floats, with NaN where there is
none: a judge that abstained or failed, a person who said that the question does not apply.
"""
