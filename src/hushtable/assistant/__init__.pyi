from .opening import AssistantOptions as AssistantOptions, open_session as open_session
from .replaying import verify_transcript as verify_transcript
from .running import claim_pipes as claim_pipes, new_transcript as new_transcript, run_session as run_session
from .skill import write_skill as write_skill
