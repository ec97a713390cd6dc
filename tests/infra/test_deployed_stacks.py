"""When MiniStack answers to who deploys a stack."""

import asyncio

import pytest

from local.deployed_stacks import answering_at_end, noting_end
from local.endpoint import free_port
from local.ministack import MiniStack
from tests.infra.test_local_stack import client_of
from tests.infra.test_nested_stacks import nesting


def test_a_stack_is_deployed_when_its_creation_is_answered(tmp_path):
    ministack = MiniStack(directory=tmp_path, environment={})
    port = free_port()
    pid = ministack.start(port=port)
    try:
        cloudformation = client_of("cloudformation", port)
        for name, changed in (("one", False), ("two", True)):
            cloudformation.create_stack(StackName=name, TemplateBody=nesting(port, changed=changed))
            (stack,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
            assert stack["StackStatus"] == "CREATE_COMPLETE"
    finally:
        ministack.stop(pid)


@pytest.mark.parametrize(("seconds", "is_over"), [(0.05, True), (60, False)])
def test_one_that_takes_long_is_answered_before(seconds, is_over):
    ended = []
    tasks = []

    async def deploy():
        await asyncio.sleep(seconds)
        ended.append(True)

    begin = noting_end(lambda deployment: tasks.append(asyncio.ensure_future(deployment)))

    async def handle():
        begin(deploy())
        return (200,)

    async def ask():
        answer = await answering_at_end(handle, at_most=0.5)()
        assert bool(ended) is is_over
        for task in tasks:
            task.cancel()
        return answer

    assert asyncio.run(ask()) == (200,)


def test_a_deployment_that_fails_is_over():
    async def deploy():
        raise ValueError("not today")

    begin = noting_end(lambda deployment: tasks.append(asyncio.ensure_future(deployment)))
    tasks = []

    async def handle():
        begin(deploy())
        return (200,)

    async def ask():
        answer = await asyncio.wait_for(answering_at_end(handle)(), timeout=5)
        (task,) = tasks
        with pytest.raises(ValueError, match="not today"):
            await task
        return answer

    assert asyncio.run(ask()) == (200,)
