import { checkDefinition } from '../../core/internal.ts';
import { toContextPolicy, isForeignMessage } from '../../agents/internal.ts';
import { InvalidInputError, optionTable } from '../../core/index.ts';
import type { Content, OptionTable } from '../../core/index.ts';
import type { LlmAgentSettings } from './base-plugin.ts';
import { BasePlugin } from './base-plugin.ts';

/**
 * How much of a conversation the models see. `numInvocationsToKeep` is applied first, then `customFilter`. Default:
 * everything.
 */
export interface ContextFilterPluginOptions {
  /** Number of newest invocations that the models see, including the current one. */
  readonly numInvocationsToKeep?: number;
  /** Receives the remaining contents and returns those that the model sees. */
  readonly customFilter?: (contents: readonly Content[]) => readonly Content[];
  /** Default: `context_filter`. */
  readonly name?: string;
}

/** The options of `ContextFilterPlugin`. */
export const CONTEXT_FILTER_PLUGIN_OPTIONS: OptionTable = optionTable<ContextFilterPluginOptions>(
  'ContextFilterPlugin',
  {
    numInvocationsToKeep: true,
    customFilter: true,
    name: true,
  },
);

/** Shows the models of the app less of a long conversation. The session keeps all of it. */
export class ContextFilterPlugin extends BasePlugin {
  readonly #options: ContextFilterPluginOptions;

  /** @throws InvalidInputError if `numInvocationsToKeep` is not a positive integer */
  constructor(options: ContextFilterPluginOptions) {
    if (new.target === ContextFilterPlugin) checkDefinition(CONTEXT_FILTER_PLUGIN_OPTIONS, options);
    super(options.name ?? 'context_filter');
    const { numInvocationsToKeep: keep } = options;
    if (keep !== undefined && !(Number.isInteger(keep) && keep >= 1))
      throw new InvalidInputError('numInvocationsToKeep', `must be 1 or more; it is ${keep}.`);
    this.#options = options;
  }

  override configureAgent({ context }: LlmAgentSettings): Partial<LlmAgentSettings> {
    const policy = context === undefined ? undefined : toContextPolicy(context);
    const { numInvocationsToKeep, customFilter } = this.#options;
    return {
      context: async (contents, info) => {
        const allowed = (await policy?.(contents, info)) ?? contents;
        const kept =
          numInvocationsToKeep === undefined
            ? allowed
            : newestInvocations(allowed, numInvocationsToKeep);
        return customFilter?.(kept) ?? kept;
      },
    };
  }
}

/** Returns the newest invocations. An invocation starts at a user message that follows a message of another author. */
function newestInvocations(contents: readonly Content[], count: number): readonly Content[] {
  const starts = contents.flatMap((content, index) =>
    isUserMessage(content) && !isUserMessage(contents[index - 1]) ? [index] : [],
  );
  return contents.slice(starts.at(-count) ?? 0);
}

function isUserMessage(content: Content | undefined): boolean {
  return content?.role === 'user' && !isForeignMessage(content);
}
