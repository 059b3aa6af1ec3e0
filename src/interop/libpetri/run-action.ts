import { inspect } from 'node:util';
import type { Libpetri } from './load-libpetri.ts';
import type { Transition as LibpetriTransition, TransitionContext } from 'libpetri';

/** What a firing of an imported transition has: by place name, a token's value or a list of them. */
export type ActionInput = Readonly<Record<string, unknown>>;

/** What an action gave: values by place, in its order. */
export type ActionOutput = ReadonlyMap<string, readonly unknown[]>;

/** What libpetri's executor would hand to an action. Fresh names follow from the firing, so that a restart mints them again. */
export function createActionContext(
  lp: Libpetri,
  t: LibpetriTransition,
  values: ActionInput,
  firingId: string,
): TransitionContext {
  const input = new lp.TokenInput();
  const single = new Set(
    t.inputSpecs.filter(({ type }) => type === 'one').map(({ place }) => place.name),
  );
  for (const place of [...t.inputPlaces(), ...t.readPlaces()]) {
    const value = values[place.name];
    const tokens: readonly unknown[] =
      !single.has(place.name) && Array.isArray(value) ? value : [value];
    for (const token of tokens) input.add(place, lp.tokenAt(token, 0));
  }
  const context = new lp.TransitionContext(
    t.name,
    input,
    new lp.TokenOutput(),
    t.inputPlaces(),
    t.readPlaces(),
    t.outputPlaces(),
    undefined,
    undefined,
    t.placeAlias,
  );
  let names = 0;
  context.setFreshNameSupplier(() => lp.nameId(`${firingId}#${names++}`));
  return context;
}

/** What the action has given. */
export function readActionOutput(context: TransitionContext): ActionOutput {
  const output = new Map<string, unknown[]>();
  for (const { place, token } of context.rawOutput().entries())
    output.set(place.name, [...(output.get(place.name) ?? []), token.value]);
  return output;
}

/**
 * Runs an action that was declared synchronous. libpetri's actions return promises all the same; one that has not
 * settled by itself was declared wrongly.
 * @throws Error when it waits, or failed
 */
export function runSyncAction(t: LibpetriTransition, context: TransitionContext): ActionOutput {
  const promise = t.action(context);
  promise.catch(() => {});
  const [, state, text = ''] =
    /^[^{]*\{\s*<(pending|rejected)>\s*([^\n]*)/.exec(inspect(promise, { depth: 0 })) ?? [];
  if (state === 'pending')
    throw new Error(`"${t.name}" was declared synchronous, but its action waits`);
  if (state === 'rejected') throw new Error(`"${t.name}" failed: ${text}`);
  return readActionOutput(context);
}
