import { inspect } from 'node:util';
import { OutputError } from '../../net/index.ts';
import type { Libpetri } from './load-libpetri.ts';
import type { Transition as LibpetriTransition, TransitionContext } from 'libpetri';

/**
 * The inputs of a firing of an imported transition: by place name, the value of a token or a list
 * of values.
 */
export type ActionInput = Readonly<Record<string, unknown>>;

/** The values that an action produced, by place, in order. */
export type ActionOutput = ReadonlyMap<string, readonly unknown[]>;

/**
 * Creates the context that libpetri's executor would pass to an action. Fresh names are derived
 * from the firing, so that a restart creates the same ones.
 */
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

/** The values that the action produced. */
export function readActionOutput(context: TransitionContext): ActionOutput {
  const output = new Map<string, unknown[]>();
  for (const { place, token } of context.rawOutput().entries())
    output.set(place.name, [...(output.get(place.name) ?? []), token.value]);
  return output;
}

/**
 * Runs an action that was declared synchronous. libpetri's actions always return promises; the
 * promise of a synchronous action is settled at once.
 * @throws OutputError if the action waits, and Error if it fails
 */
export function runSyncAction(t: LibpetriTransition, context: TransitionContext): ActionOutput {
  const promise = t.action(context);
  promise.catch(() => {});
  const [, state, text = ''] =
    /^[^{]*\{\s*<(pending|rejected)>\s*([^\n]*)/.exec(inspect(promise, { depth: 0 })) ?? [];
  if (state === 'pending')
    throw new OutputError(t.name, 'was declared synchronous, but its action waits');
  if (state === 'rejected') throw new Error(`"${t.name}" failed: ${text}`);
  return readActionOutput(context);
}
