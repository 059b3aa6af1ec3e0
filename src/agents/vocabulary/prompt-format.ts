import * as v from 'valibot';
import { place, tokensIn } from '../../net/index.ts';
import type { CompiledNet, Marking, Migrate, TokenPlace } from '../../net/index.ts';

/**
 * How a session writes its prompts. It is an initial token, so the journal has it from the first record on, and a session
 * keeps its prompts when the definition of an agent, or this package, changes. A session without it was created before
 * agents had identities.
 */
export interface PromptFormat {
  /** The agents whose prompts state their identity. */
  readonly identified: readonly string[];
}

/** The prompt format of the session. No transition moves it. */
export const sessionPrompt: TokenPlace<PromptFormat> = place(
  'session.prompt',
  v.object({ identified: v.pipe(v.array(v.string()), v.readonly()) }),
  { version: 1 },
);

/** Marks a session that was created without agents. The first agents that run it choose its prompt format. */
export const promptUndecided: TokenPlace<null> = place('session.prompt-undecided');

/** Reads the prompt format of a session. */
export function readPromptFormat(marking: Marking): PromptFormat | undefined {
  const [token] = tokensIn(marking, sessionPrompt.name);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the token passed the schema of the place
  return token?.value as PromptFormat | undefined;
}

/** The migration of a session to a net: `migrate`, and the choice of the prompt format, if it has none yet. */
export function withPromptChoice(
  { initial }: Pick<CompiledNet, 'initial'>,
  migrate: Migrate | undefined,
): Migrate {
  return (marked) => {
    const others = marked.filter((name) => name !== promptUndecided.name);
    const { moved = {}, give = [] } = (others.length > 0 ? migrate?.(others) : undefined) ?? {};
    if (others.length === marked.length) return { moved, give };
    const chosen = initial.filter((token) => token.place.name === sessionPrompt.name);
    return { moved: { ...moved, [promptUndecided.name]: null }, give: [...give, ...chosen] };
  };
}
