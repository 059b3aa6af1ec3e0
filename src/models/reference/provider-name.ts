import { PetrichorError } from '../../core/index.ts';

/** Who serves a model: decides the package that is loaded and the variables that keys and addresses are read from. */
export type ProviderName = 'gemini' | 'openai' | 'anthropic' | 'ollama' | 'openai_compatible';

/** Every provider that a model reference may name. */
export const PROVIDER_NAMES: readonly ProviderName[] = [
  'gemini',
  'openai',
  'anthropic',
  'ollama',
  'openai_compatible',
];

export function isProviderName(name: unknown): name is ProviderName {
  return PROVIDER_NAMES.some((known) => known === name);
}

/** A name alone does not say whose model it is. Say it in full: `{ provider, model }`. */
export class UnknownModelError extends PetrichorError {
  override readonly code = 'unknown_model' as const;
  readonly model: string;

  constructor(model: string) {
    const prefixes = PREFIXES.map(([provider, names]) => `${names.join(', ')} (${provider})`);
    super(
      `No provider is known for the model "${model}". Names begin with ${prefixes.join('; ')}. ` +
        `Or say it in full: { provider, model }, with provider one of ${PROVIDER_NAMES.join(', ')}.`,
    );
    this.model = model;
  }
}

const PREFIXES: readonly (readonly [ProviderName, readonly string[]])[] = [
  ['gemini', ['gemini']],
  ['openai', ['gpt', 'o1', 'o3', 'o4', 'chatgpt']],
  ['anthropic', ['claude']],
  ['ollama', ['llama', 'mistral', 'deepseek', 'qwen', 'gemma', 'phi']],
];

/** Whose model a name means, in whatever case. `gpt-oss` is told by its prefix to OpenAI: say `{ provider }` for Ollama. @throws UnknownModelError */
export function inferProvider(model: string): ProviderName {
  const name = model.toLowerCase();
  const found = PREFIXES.find(([, prefixes]) => prefixes.some((prefix) => name.startsWith(prefix)));
  if (found === undefined) throw new UnknownModelError(model);
  return found[0];
}
