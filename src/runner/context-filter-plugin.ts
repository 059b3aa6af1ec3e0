import { contextPolicyOf } from '../agents/context.ts';
import { isTold } from '../agents/heard-by.ts';
import { InvalidInputError } from '../core/index.ts';
import type { Content } from '../core/index.ts';
import type { AgentShape } from './agent-shape.ts';
import { BasePlugin } from './base-plugin.ts';

/** How much of a conversation models are shown: first by count, then by the filter; all of it when neither is given. */
export interface ContextFilterPluginOptions {
  /** Models are shown so many of the newest invocations, the one that runs included. */
  readonly numInvocationsToKeep?: number;
  /** Looks at what is left then, and says what the model is shown. */
  readonly customFilter?: (contents: readonly Content[]) => readonly Content[];
  /** `context_filter` unless given. */
  readonly name?: string;
}

/** Shows the models of the app less of a long conversation. The session keeps all of it. */
export class ContextFilterPlugin extends BasePlugin {
  readonly #options: ContextFilterPluginOptions;

  /** @throws InvalidInputError */
  constructor(options: ContextFilterPluginOptions) {
    super(options.name ?? 'context_filter');
    const { numInvocationsToKeep: keep } = options;
    if (keep !== undefined && !(Number.isInteger(keep) && keep >= 1))
      throw new InvalidInputError('numInvocationsToKeep', `must be 1 or more; it is ${keep}.`);
    this.#options = options;
  }

  override shapeAgent({ context }: AgentShape): Partial<AgentShape> {
    const shown = context === undefined ? undefined : contextPolicyOf(context);
    const { numInvocationsToKeep, customFilter } = this.#options;
    return {
      context: async (contents, info) => {
        const before = (await shown?.(contents, info)) ?? contents;
        const kept =
          numInvocationsToKeep === undefined ? before : newest(before, numInvocationsToKeep);
        return customFilter?.(kept) ?? kept;
      },
    };
  }
}

/** The newest invocations: each begins with what a user says after somebody else spoke. */
function newest(contents: readonly Content[], count: number): readonly Content[] {
  const begins = contents.flatMap((content, index) =>
    isMessage(content) && !isMessage(contents[index - 1]) ? [index] : [],
  );
  return contents.slice(begins.at(-count) ?? 0);
}

function isMessage(content: Content | undefined): boolean {
  return content?.role === 'user' && !isTold(content);
}
