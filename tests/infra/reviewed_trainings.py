"""Permissions of trainings and hostings that end-to-end tests are not seen to use, with reasons."""

from tests.infra.reviewing import rare

RARELY_CALLED_OF_TRAININGS = {
    "TrainOnSageMaker": "has jobs train (tests/component/apprentice/test_training_jobs.py)",
    "FailTraining": "ends what cannot go on (tests/component/apprentice/test_trainings.py)",
    "VerifyArtifact": "looks at their models (tests/component/apprentice/test_training_jobs.py)",
    "DeployStudent": "has those hosted (tests/component/apprentice/test_training_jobs.py)",
}
"""Functions that a run may see or not."""

OF_TRAININGS = (
    *rare(
        "SweepHostings",
        """
        dynamodb:GetItem Apprentice apt_*
        dynamodb:Query Apprentice apt_*
        dynamodb:DeleteItem Apprentice apt_*#hosting
        dynamodb:UpdateItem Apprentice apt_*#hosting
        s3:GetObject ApprenticeFiles/apprentice/bases/*
        s3:ListBucket ApprenticeFiles
        sagemaker:AddTags endpoint/*
        sagemaker:AddTags endpoint-config/*
        sagemaker:AddTags inference-component/*
        sagemaker:AddTags model/*
        sagemaker:CreateEndpoint endpoint/*
        sagemaker:CreateEndpoint endpoint-config/*
        sagemaker:CreateEndpointConfig endpoint-config/*
        sagemaker:CreateInferenceComponent endpoint/*
        sagemaker:CreateInferenceComponent inference-component/*
        sagemaker:CreateModel model/*
        sagemaker:DeleteEndpoint endpoint/*
        sagemaker:DeleteEndpointConfig endpoint-config/*
        sagemaker:DeleteInferenceComponent inference-component/*
        sagemaker:DeleteModel model/*
        sagemaker:DescribeEndpoint endpoint/*
        sagemaker:DescribeEndpointConfig endpoint-config/*
        sagemaker:DescribeInferenceComponent inference-component/*
        sagemaker:DescribeModel model/*
        sagemaker:ListTags endpoint/*
        sagemaker:ListTags endpoint-config/*
        sagemaker:ListTags inference-component/*
        sagemaker:ListTags model/*
        sagemaker:UpdateInferenceComponentRuntimeConfig inference-component/*
        iam:PassRole HostingHostRole
        """,
        "Models are hosted at SageMaker (tests/component/apprentice/test_hostings.py).",
    ),
    *rare(
        "HostStudent",
        """
        dynamodb:UpdateItem Apprentice apt_*#hosting
        sagemaker:InvokeEndpoint endpoint/*
        sagemaker:InvokeEndpoint inference-component/*
        """,
        "Versions at SageMaker are tried first (tests/component/apprentice/test_hostings.py).",
    ),
    *rare(
        "ValidateStudent",
        """
        dynamodb:UpdateItem Apprentice apt_*#hosting
        lambda:InvokeFunction AnswerLinearFunction
        lambda:InvokeFunction ScoreSimilarityFunction
        sagemaker:InvokeEndpoint endpoint/*
        sagemaker:InvokeEndpoint inference-component/*
        """,
        "What jobs train is judged where it is hosted (tests/component/apprentice).",
    ),
    *(
        one
        for function in ("ApprenticeTrainingsApi", "FailTraining", "SweepTrainings")
        for one in rare(
            function,
            "sagemaker:StopTrainingJob training-job/*",
            "Jobs of ended trainings are stopped (tests/component/apprentice).",
        )
    ),
    *rare(
        "TrainOnSageMaker",
        """
        dynamodb:GetItem Apprentice apt_*
        dynamodb:UpdateItem Apprentice apt_*
        dynamodb:UpdateItem Apprentice money#org_*#apt_*
        dynamodb:GetItem Apprentice org_*#tasks
        dynamodb:GetItem Budgets money#org_*#apt_*
        dynamodb:UpdateItem Budgets money#org_*#apt_*
        iam:PassRole JobsRole
        s3:DeleteObject ApprenticeFiles/apprentice/apt_*
        s3:GetObject ApprenticeFiles/apprentice/bases/*
        s3:ListBucket ApprenticeFiles
        s3:PutObject ApprenticeFiles/apprentice/apt_*/jobs/*
        sagemaker:AddTags training-job/*
        sagemaker:CreateTrainingJob training-job/*
        sagemaker:DescribeTrainingJob training-job/*
        sagemaker:StopTrainingJob training-job/*
        """,
        "Jobs of SageMaker train models (tests/component/apprentice/test_training_jobs.py).",
    ),
    *rare(
        "FailTraining",
        """
        dynamodb:GetItem Apprentice apt_*
        dynamodb:UpdateItem Apprentice apt_*
        dynamodb:GetItem Apprentice org_*#tasks
        s3:DeleteObject ApprenticeFiles/apprentice/apt_*
        s3:ListBucket ApprenticeFiles
        """,
        "Trainings that cannot go on are ended (tests/component/apprentice/test_trainings.py).",
    ),
    *rare(
        "FreezeExamples",
        """
        dynamodb:BatchGetItem Apprentice apt_*
        s3:DeleteObject ApprenticeFiles/apprentice/apt_*
        s3:ListBucket ApprenticeFiles
        s3:GetObject LedgerTexts/ledger/*
        s3:ListBucket LedgerTexts
        """,
        "Examples are imported, answers are long, and data goes (tests/component/apprentice).",
    ),
    *rare(
        "TrainLinear",
        """
        s3:DeleteObject ApprenticeFiles/apprentice/apt_*
        s3:ListBucket ApprenticeFiles
        """,
        "What cannot be trained is deleted (tests/component/apprentice/test_trainings.py).",
    ),
    *rare(
        "ValidateStudent",
        """
        s3:DeleteObject ApprenticeFiles/apprentice/apt_*
        s3:ListBucket ApprenticeFiles
        """,
        "What shows too little is deleted (tests/component/apprentice/test_trainings.py).",
    ),
    *rare(
        "VerifyArtifact",
        """
        dynamodb:GetItem Apprentice apt_*
        dynamodb:UpdateItem Apprentice apt_*
        dynamodb:GetItem Apprentice org_*#tasks
        s3:DeleteObject ApprenticeFiles/apprentice/apt_*
        s3:GetObject ApprenticeFiles/apprentice/apt_*/jobs/*
        s3:ListBucket ApprenticeFiles
        s3:PutObject ApprenticeFiles/apprentice/apt_*/models/*
        """,
        "What jobs left is looked at first (tests/component/apprentice/test_training_jobs.py).",
    ),
    *rare(
        "DeployStudent",
        """
        dynamodb:DeleteItem Apprentice apt_*#hosting
        dynamodb:GetItem Apprentice apt_*
        dynamodb:PutItem Apprentice apt_*#hosting
        dynamodb:UpdateItem Apprentice apt_*
        dynamodb:UpdateItem Apprentice apt_*#hosting
        dynamodb:GetItem Apprentice org_*#tasks
        s3:DeleteObject ApprenticeFiles/apprentice/apt_*
        s3:ListBucket ApprenticeFiles
        """,
        "What jobs trained is hosted first (tests/component/apprentice/test_training_jobs.py).",
    ),
    *rare(
        "SweepTrainings",
        """
        dynamodb:ConditionCheckItem Apprentice org_*#tasks
        dynamodb:GetItem Apprentice org_*#tasks
        dynamodb:GetItem Apprentice apt_*
        dynamodb:Query Apprentice apt_*
        dynamodb:UpdateItem Apprentice apt_*
        dynamodb:GetItem Budgets money#org_*#apt_*
        dynamodb:UpdateItem Apprentice money#org_*#apt_*
        dynamodb:UpdateItem Budgets money#org_*#apt_*
        states:StartExecution TrainStudent
        """,
        "A training begins by itself (tests/component/apprentice/test_training_starts.py).",
    ),
    *rare(
        "SweepTrainings",
        """
        s3:DeleteObject ApprenticeFiles/apprentice/apt_*/jobs/*
        s3:ListBucket ApprenticeFiles
        sagemaker:DescribeTrainingJob training-job/*
        """,
        "Jobs that nobody looks after end (tests/component/apprentice/test_left_jobs.py).",
    ),
)
