"""Training of small models: the workflow, the functions of its steps, and the routes around it."""

from collections.abc import Mapping

from aws_cdk import Duration, Size
from constructs import Construct

from infra.config import REPOSITORY_ROOT
from infra.constructs.apprentice_bucket import DATA, JOBS, MODELS
from infra.constructs.service_function import MEMORY_MB, WHOLE_PROCESSOR_MB, ServiceFunction
from infra.constructs.workflow import Workflow
from infra.stacks.apprentice_hosting import HOSTINGS
from infra.stacks.apprentice_jobs import LOOK_TIMEOUT, ApprenticeJobs
from infra.stacks.apprentice_students import ApprenticeStudents
from infra.stacks.domain_stack import REQUESTS, DomainStack
from infra.stacks.http import HttpStack
from infra.stacks.ledger import LedgerStack
from infra.tables import DUE_RUNS_INDEX

TASKS = "apt_*"
RUNS = "apr_*"
LISTS = "org_*#tasks"
# Those of tasks alone.
TASKS_MONEY = "money#org_*#apt_*"
TRAININGS = [
    "/api/v1/apprentice/tasks/{taskName}/trainings",
    "/api/v1/apprentice/tasks/{taskName}/trainings/{proxy+}",
]
STEP_TIMEOUT = Duration.minutes(15)
HOST_TIMEOUT = Duration.minutes(5)
SHORT_TIMEOUT = Duration.seconds(60)
# As ``apprentice.training.watching`` words it, of what no event of a training's end has.
PAID_MESSAGE = "a left job was paid"
# A hundred thousand examples, their features and the weights of two thousand outputs: see
# benchmarks/linear_ceilings.py.
TRAIN_MB = 3_008
# Both sides of a data set, 400 MB each, where packing makes them no smaller.
FREEZE_DISK = Size.gibibytes(1)
STATE_MACHINE_DEFINITION = REPOSITORY_ROOT / "statemachines" / "train_student.asl.json"


class ApprenticeTraining(Construct):
    """What trains students, judges them, and makes versions of those that pass.

    Attributes:
        state_machine: Does the steps of a training.
    """

    def __init__(
        self,
        stack: DomainStack,
        *,
        http: HttpStack,
        ledger: LedgerStack,
        students: ApprenticeStudents,
    ) -> None:
        """Makes all of it in the stack of the apprentice.

        Args:
            stack: That stack.
            http: Has the routes.
            ledger: Has the answers that are learned from.
            students: Hosts what was trained.
        """
        super().__init__(stack, "Training")
        self._stack = stack
        self._data = stack.shared.data
        self._table = {"APPRENTICE_TABLE": self._data.apprentice.table.table_name}
        self._environment: Mapping[str, str] = {
            **self._table,
            **ledger.stores_environment,
            **students.ask_environment,
            **stack.grader_environment,
            "APPRENTICE_BUCKET": self._data.apprentice_files.bucket.bucket_name,
        }
        self._jobs = ApprenticeJobs(stack)
        fail = self._step(
            "FailTraining",
            module="fail_training",
            description="Ends a training of the apprentice that could not go on",
            timeout=SHORT_TIMEOUT,
        )
        self._jobs.grant_stop(fail)
        jobs = self._add_jobs()
        self._workflow = Workflow(
            stack,
            "TrainStudent",
            service_name=stack.shared.service_name,
            definition=STATE_MACHINE_DEFINITION,
            functions={
                "FreezeExamplesFunctionArn": self._add_freeze(),
                "TrainLinearFunctionArn": self._add_train(),
                "ValidateStudentFunctionArn": self._add_validate(students),
                "HostStudentFunctionArn": self._add_host(students),
                "TrainOnSageMakerFunctionArn": jobs,
                "VerifyArtifactFunctionArn": self._add_verify(),
                "DeployStudentFunctionArn": self._add_deploy(),
                "FailTrainingFunctionArn": fail,
            },
        )
        self.state_machine = self._workflow.state_machine
        stack.alarms.watch_runs(self.state_machine, name="TrainStudent")
        self._starting = {"TRAIN_STUDENT_ARN": self._workflow.state_machine.state_machine_arn}
        sweep = self._add_sweep()
        stack.alarms.watch_log(
            jobs,
            also=[sweep],
            name="TrainingJobsAboveBound",
            message="a job cost more than its bound",  # as ``apprentice.training.bounds`` words it
            description="Jobs that train cost more than was set aside for them",
        )
        self._add_routes(http)

    def _step(
        self,
        name: str,
        *,
        module: str,
        description: str,
        timeout: Duration = STEP_TIMEOUT,
        environment: Mapping[str, str] | None = None,
        computes: bool = False,
        memory_mb: int = MEMORY_MB,
        disk: Size | None = None,
    ) -> ServiceFunction:
        """Makes a function that goes on with trainings, and deletes what is left of ended ones."""
        step = self._stack.create(
            name,
            module=module,
            description=description,
            timeout=timeout,
            environment={**self._environment, **(environment or {})},
            computes=computes,
            memory_mb=memory_mb,
            disk=disk,
        )
        table, function = self._data.apprentice, step.function
        table.grant_read(function, "GetItem", keys=LISTS)
        table.grant_read(function, "GetItem", keys=TASKS)
        table.grant_write(function, "UpdateItem", keys=TASKS)
        self._data.apprentice_files.grant_delete(function)
        return step

    def _add_freeze(self) -> ServiceFunction:
        freeze = self._step(
            "FreezeExamples",
            module="freeze_examples",
            description="Freezes examples of the apprentice as the data of a training",
            # It holds a hundred thousand examples, and digests each: a minute of a whole processor.
            memory_mb=WHOLE_PROCESSOR_MB,
            disk=FREEZE_DISK,
        )
        data, function = self._data, freeze.function
        data.apprentice.grant_read(function, "ConditionCheckItem", keys=LISTS)
        data.apprentice.grant_read(function, "BatchGetItem", "Query", keys=TASKS)
        # Texts are where runs have them: inputs in their items, answers in the ledger.
        data.apprentice.grant_read(function, "BatchGetItem", keys=RUNS)
        data.ledger.grant_read(function, "BatchGetItem", keys=REQUESTS)
        data.ledger_texts.grant_read(function)
        data.apprentice_files.grant_write(function, names=DATA)
        return freeze

    def _add_train(self) -> ServiceFunction:
        train = self._step(
            "TrainLinear",
            module="train_linear",
            description="Trains linear students of the apprentice",
            computes=True,
            memory_mb=TRAIN_MB,
        )
        self._data.apprentice_files.grant_read(train.function, names=DATA)
        self._data.apprentice_files.grant_write(train.function, names=MODELS)
        return train

    def _add_jobs(self) -> ServiceFunction:
        look = self._step(
            "TrainOnSageMaker",
            module="train_on_sage_maker",
            description="Looks after jobs that train models of the apprentice",
            timeout=LOOK_TIMEOUT,
            environment=self._jobs.environment,
        )
        self._jobs.grant_create(look)
        # Money for a job is set aside with it, and word of a budget is an event beside it.
        self._data.budgets.grant_read(look.function, "GetItem", keys=TASKS_MONEY)
        self._data.budgets.grant_write(look.function, "UpdateItem", keys=TASKS_MONEY)
        self._data.apprentice.grant_write(look.function, "UpdateItem", keys=TASKS_MONEY)
        return look

    def _add_verify(self) -> ServiceFunction:
        verify = self._step(
            "VerifyArtifact",
            module="verify_artifact",
            description="Looks at what jobs trained for the apprentice before it is loaded",
            # It reads hundreds of megabytes once, and holds some of them.
            memory_mb=WHOLE_PROCESSOR_MB,
        )
        self._data.apprentice_files.grant_read(verify.function, names=JOBS)
        self._data.apprentice_files.grant_write(verify.function, names=MODELS)
        return verify

    def _add_deploy(self) -> ServiceFunction:
        deploy = self._step(
            "DeployStudent",
            module="deploy_student",
            description="Has models of the apprentice hosted that jobs trained",
            timeout=SHORT_TIMEOUT,
            environment={"HOSTING_PREFIX": self._stack.shared.service_name},
        )
        # What SageMaker is to have is an item; its sweep makes it so.
        self._data.apprentice.grant_write(
            deploy.function, "DeleteItem", "PutItem", "UpdateItem", keys=HOSTINGS
        )
        return deploy

    def _add_validate(self, students: ApprenticeStudents) -> ServiceFunction:
        validate = self._step(
            "ValidateStudent",
            module="validate_student",
            description="Judges students of the apprentice by examples that they never saw",
            computes=True,
            memory_mb=WHOLE_PROCESSOR_MB,
        )
        # Which attempt it is follows from the trainings before.
        self._data.apprentice.grant_read(validate.function, "Query", keys=TASKS)
        for names in (DATA, MODELS):
            self._data.apprentice_files.grant_read(validate.function, names=names)
        # Those that are hosted at SageMaker are asked there.
        students.grant_ask(validate)
        students.grant_compare(validate)
        return validate

    def _add_host(self, students: ApprenticeStudents) -> ServiceFunction:
        host = self._step(
            "HostStudent",
            module="host_student",
            description="Makes versions of students of the apprentice that passed",
            timeout=HOST_TIMEOUT,
        )
        self._data.apprentice.grant_read(host.function, "ConditionCheckItem", keys=LISTS)
        self._data.apprentice.grant_read(host.function, "Query", keys=TASKS)
        self._data.apprentice_files.grant_read(host.function, names=DATA)
        self._data.certificates_key.grant_sign(host)
        students.grant_ask(host)
        return host

    def _add_sweep(self) -> ServiceFunction:
        sweep = self._stack.create(
            "SweepTrainings",
            module="sweep_trainings",
            description="Begins trainings of the apprentice that are due, and redrives lost ones",
            timeout=SHORT_TIMEOUT,
            environment={
                **self._table,
                **self._starting,
                "APPRENTICE_BUCKET": self._data.apprentice_files.bucket.bucket_name,
                **self._jobs.prices_environment,
                "BUDGETS_TABLE": self._data.budgets.table.table_name,
            },
        )
        table, function = self._data.apprentice, sweep.function
        # What cannot be paid for does not begin; word of its budget is an event beside it.
        self._data.budgets.grant_read(function, "GetItem", keys=TASKS_MONEY)
        self._data.budgets.grant_write(function, "UpdateItem", keys=TASKS_MONEY)
        table.grant_write(function, "UpdateItem", keys=TASKS_MONEY)
        table.grant_query_index(function, index_name=DUE_RUNS_INDEX)
        table.grant_read(function, "ConditionCheckItem", "GetItem", keys=LISTS)
        table.grant_read(function, "GetItem", "Query", keys=TASKS)
        table.grant_write(function, "UpdateItem", keys=TASKS)
        self._workflow.state_machine.grant_start_execution(function)
        self._jobs.grant_look(sweep)
        # A job that is left over is paid for, and what it wrote is deleted.
        self._data.apprentice_files.grant_delete(function, names=JOBS)
        self._stack.run_every(Duration.minutes(1), sweep)
        self._stack.alarms.measure_log(
            sweep,
            name="TrainingNanoUsd",
            message=PAID_MESSAGE,
            value="$.nano_usd",
            source="OfLeftJobs",
        )
        return sweep

    def _add_routes(self, http: HttpStack) -> None:
        requests = self._stack.create_api(
            "ApprenticeTrainingsApi",
            module="trainings_api",
            environment={
                **self._table,
                **self._starting,
                **self._jobs.prices_environment,
                **self._stack.grader_environment,
                "BUDGETS_TABLE": self._data.budgets.table.table_name,
                "APPRENTICE_BUCKET": self._data.apprentice_files.bucket.bucket_name,
            },
        )
        table, function = self._data.apprentice, requests.function
        table.grant_read(function, "ConditionCheckItem", "GetItem", keys=LISTS)
        table.grant_read(function, "GetItem", "Query", keys=TASKS)
        table.grant_write(function, "UpdateItem", keys=TASKS)
        self._data.budgets.grant_read(function, "GetItem", keys=TASKS_MONEY)
        self._workflow.state_machine.grant_start_execution(function)
        self._jobs.grant_stop(requests)
        for path in TRAININGS:
            http.api.route(requests, paths=[path])
