import { InvalidInputError } from '../../core/index.ts';
import { parseOrigins } from '../../egress/internal.ts';
import { parseModelRef, type ModelRef } from './model-ref.ts';
import { modelAccess, PROVIDER_DEFAULTS, type ModelEnv } from './model-address-and-key.ts';

/**
 * Checks that a reference has no base URL outside the operator's list. The provider's own base URL,
 * and that of its environment variable, need not be on the list.
 * @throws InvalidInputError for `model.base_url`
 * @throws UnknownModelError if the provider of a model name is unknown
 */
export function checkModelOrigin(ref: ModelRef, env: ModelEnv, origins: readonly string[]): void {
  const spec = parseModelRef(ref);
  if (spec.baseUrl !== undefined) modelAccess(spec, env, origins);
}

/**
 * Checks a reference that a caller of a server chose. In addition to `checkModelOrigin`, a provider
 * whose default address is on the server's machine, such as Ollama, must be on the operator's list.
 * @throws InvalidInputError for `model` or `model.base_url`
 * @throws UnknownModelError if the provider of a model name is unknown
 */
export function checkCallerModel(ref: ModelRef, origins: readonly string[]): void {
  checkModelOrigin(ref, {}, origins);
  const { provider, baseUrl } = parseModelRef(ref);
  const defaultUrl = new URL(PROVIDER_DEFAULTS[provider].baseUrl ?? 'https://none.invalid');
  if (baseUrl !== undefined || defaultUrl.protocol === 'https:') return;
  if (parseOrigins(origins, 'modelOrigins')(defaultUrl) === 'unlisted')
    throw new InvalidInputError(
      'model',
      `is on the server's own machine, at ${defaultUrl.origin}, which the operator does not allow. Choose another model, or ask ` +
        `the operator to allow it: petrichor serve --model-origin ${defaultUrl.origin}, or modelOrigins of createServer.`,
    );
}
