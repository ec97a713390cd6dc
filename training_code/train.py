"""What a training job runs: see ``student_program``."""

import sys

from student_program.main import main

sys.exit(main())
