import { omitUndefined, importOptional, isModuleNotFound } from '../../core/internal.ts';
import { PetrichorError } from '../../core/index.ts';
import { NO_CALL_ID, type LanguageModel } from '../provider/language-model.ts';
import type { ModelSpec } from './model-ref.ts';

/**
 * The package of a provider is not installed. Only models of that provider need it.
 * @remedy Run `npm install` with the package in `packageName`.
 */
export class MissingPackageError extends PetrichorError {
  override readonly code = 'missing_package' as const;
  readonly packageName: string;

  constructor(model: string, packageName: string) {
    super(`Model "${model}" needs the package ${packageName}: run "npm install ${packageName}".`);
    this.packageName = packageName;
  }
}

/** What a provider package needs to create a model. */
export interface ProviderAccess {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly fetch: typeof globalThis.fetch;
}

/**
 * Creates a model for a base URL and key. It can be called again with another key without loading
 * the package again.
 */
export type MakeModel = (access: ProviderAccess) => LanguageModel;

/**
 * Loads the package of a provider. No other module does, and only models of that provider load it.
 * @throws MissingPackageError if it is not installed
 */
export async function loadProvider({ provider, model, api }: ModelSpec): Promise<MakeModel> {
  const toMissing = (packageName: string) => (reason: unknown) =>
    isMissing(packageName, reason) ? new MissingPackageError(model, packageName) : reason;
  switch (provider) {
    case 'gemini': {
      const { createGoogle } = await importOptional(
        import('@ai-sdk/google'),
        toMissing('@ai-sdk/google'),
      );
      // Gemini gives calls no id. A generated one would differ at every attempt.
      return (access) =>
        createGoogle({ ...toPackageOptions(access), generateId: () => NO_CALL_ID })(model);
    }
    case 'openai': {
      const { createOpenAI } = await importOptional(
        import('@ai-sdk/openai'),
        toMissing('@ai-sdk/openai'),
      );
      return (access) => createOpenAI(toPackageOptions(access))[api ?? 'responses'](model);
    }
    case 'anthropic': {
      const { createAnthropic } = await importOptional(
        import('@ai-sdk/anthropic'),
        toMissing('@ai-sdk/anthropic'),
      );
      return (access) => createAnthropic(toPackageOptions(access))(model);
    }
    case 'ollama':
    case 'openai_compatible':
    default: {
      const { createOpenAICompatible } = await importOptional(
        import('@ai-sdk/openai-compatible'),
        toMissing('@ai-sdk/openai-compatible'),
      );
      const name = provider === 'ollama' ? 'ollama' : 'openaiCompatible';
      const can = { includeUsage: true, supportsStructuredOutputs: true };
      return (access) =>
        createOpenAICompatible({ ...toPackageOptions(access), name, ...can })(model);
    }
  }
}

function toPackageOptions({ baseUrl, apiKey, fetch }: ProviderAccess): {
  baseURL: string;
  fetch: typeof globalThis.fetch;
  apiKey?: string;
} {
  return { baseURL: baseUrl, fetch, ...omitUndefined({ apiKey }) };
}

// A package that is installed may fail because a package that it imports is missing.
function isMissing(packageName: string, reason: unknown): boolean {
  return (
    isModuleNotFound(reason) && reason instanceof Error && reason.message.includes(packageName)
  );
}
