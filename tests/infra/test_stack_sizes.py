"""How much room there is below the limits of CloudFormation.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
"""

from infra.application import DATA_STACK_NAME, SERVICE_STACK_NAME

MOST_RESOURCES = 380  # of 500, so that nobody has to cut a stack in a hurry
MOST_OF_ALL_NESTED = 2_500
MOST_PARAMETERS = MOST_OUTPUTS = 200
DOMAINS_TO_COME = 1  # apprentice


def resources(synthesized):
    return {
        name: len(template["Resources"])
        for name, template in synthesized.templates.items()
        if name != DATA_STACK_NAME
    }


def test_the_largest_stack_is_known(aws):
    """Whoever adds to it sees how far it has grown."""
    counts = resources(aws)
    assert max(counts, key=counts.get) == "Decks"
    assert (counts["Decks"], counts[SERVICE_STACK_NAME]) == (184, 30)


def test_stacks_have_room_for_more_domains(aws):
    counts = resources(aws)
    largest = max(counts.values())
    # Even if all of them went into the largest stack.
    assert largest * (1 + DOMAINS_TO_COME) <= MOST_RESOURCES
    assert counts[SERVICE_STACK_NAME] + DOMAINS_TO_COME <= MOST_RESOURCES
    assert sum(counts.values()) + DOMAINS_TO_COME * largest <= MOST_OF_ALL_NESTED
    assert len(aws.templates[DATA_STACK_NAME]["Resources"]) <= MOST_RESOURCES / 2


def test_stacks_pass_few_values_to_each_other(aws):
    for template in aws.templates.values():
        assert len(template.get("Parameters", {})) <= MOST_PARAMETERS / 2
        assert len(template.get("Outputs", {})) <= MOST_OUTPUTS / 2
