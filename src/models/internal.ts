/** Exports of `models/` for other folders of `src/`, without the providers. */

export { checkResponse } from './model/check-response.ts';
export { GENERATION_NAMES } from './model/generation-names.ts';
export { ModelError } from './model/model-error.ts';
export { raceWithAbort } from './model/race-with-abort.ts';
export { withCallIds } from './model/with-call-ids.ts';
export { toolNames } from './prompt/tool-names.ts';
export { ModelNotResolvedError } from './reference/model-not-resolved-error.ts';
export { NamedModel } from './reference/named-model.ts';
export { UnknownModelError } from './reference/provider-name.ts';
export { createRedactor, type Redact } from './response/redact.ts';
