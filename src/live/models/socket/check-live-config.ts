import { checkOptions, InvalidInputError } from '../../../core/index.ts';
import { UnsupportedFeatureError } from '../../../models/index.ts';
import { LIVE_CONFIG, type LiveConfig } from '../live-config.ts';
import type { LiveListener, LiveToolDeclaration } from '../live-model.ts';

const LIVE_ADVICE = 'the protocol of this model does not have it';

/**
 * Checks the options of a conversation before anything is sent. `unsupported` are the names of those
 * that are set and that the protocol does not have.
 * @throws UnknownFieldError, InvalidInputError
 * @throws UnsupportedFeatureError for the first unsupported one, unless `onUnsupported` is `warn`
 */
export function checkLiveConfig(
  model: string,
  config: LiveConfig,
  unsupported: readonly string[],
  listener: LiveListener,
): void {
  checkOptions(LIVE_CONFIG, config);
  const { responseModalities = ['AUDIO'] } = config;
  const [modality, ...more] = responseModalities;
  if (!(modality === 'AUDIO' || modality === 'TEXT') || more.length > 0) {
    throw new InvalidInputError('config.responseModalities', "must be ['AUDIO'] or ['TEXT'].");
  }
  const [first] = unsupported;
  if (first === undefined) return;
  if (config.onUnsupported !== 'warn') throw new UnsupportedFeatureError(model, first, LIVE_ADVICE);
  for (const name of unsupported) {
    listener.onDiagnostic?.({
      kind: 'unsupported',
      message: `${name} is left out: ${LIVE_ADVICE}.`,
    });
  }
}

/** For each tool of a provider by its id, whether the protocol does not have it. */
export function listProviderTools(
  tools: readonly LiveToolDeclaration[],
  isKnown: (id: string) => boolean,
): Readonly<Record<string, boolean>> {
  return Object.fromEntries(
    tools.flatMap(({ provider }) =>
      provider === undefined ? [] : [[`tool ${provider.id}`, !isKnown(provider.id)] as const],
    ),
  );
}

/** The names of the facts that are true. */
export function listTrue(facts: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.keys(facts).filter((name) => facts[name]);
}
