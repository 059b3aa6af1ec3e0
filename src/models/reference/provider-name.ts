import { PetrichorError } from '../../core/index.ts';
import { nearestName } from '../../core/internal.ts';

/**
 * The provider of a model. It determines the package to load and the environment variables of keys
 * and addresses.
 */
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

/**
 * The provider of a model name is unknown.
 * @remedy Name the provider: `{ provider, model }`.
 */
export class UnknownModelError extends PetrichorError {
  override readonly code = 'unknown_model' as const;
  readonly model: string;

  /** @param place where the model is named, for the message */
  constructor(model: string, place?: string) {
    const prefixes = PREFIXES.map(([provider, names]) => `${names.join(', ')} (${provider})`);
    const nearest = nearestName(model, EXAMPLES);
    const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
    super(
      `${place === undefined ? '' : `${place}: `}The provider of the model "${model}" is unknown.${hint} Known names begin with ${prefixes.join('; ')}. ` +
        `For any other model use { provider, model }, with provider one of ${PROVIDER_NAMES.join(', ')}.`,
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

/** Names to suggest for a misspelled one. */
const EXAMPLES: readonly string[] = [
  'gpt-5',
  'gpt-5-mini',
  'gemini-2.5-flash',
  'claude-sonnet-4-5',
];

/**
 * The provider of a model name, ignoring case. `gpt-oss` matches a prefix of OpenAI: use `{
 * provider }` for Ollama.
 * @throws UnknownModelError
 */
export function inferProvider(model: string): ProviderName {
  const name = model.toLowerCase();
  const found = PREFIXES.find(([, prefixes]) => prefixes.some((prefix) => name.startsWith(prefix)));
  if (found === undefined) throw new UnknownModelError(model);
  return found[0];
}
