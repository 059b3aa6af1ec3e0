import type { Out, OutTimeout, Place as LibpetriPlace } from 'libpetri';

/** One outcome of a libpetri transition: the places it produces tokens in. */
export interface Branch {
  readonly places: readonly LibpetriPlace<unknown>[];
}

/** The outcome of a libpetri transition whose action takes too long. */
export interface TimeoutBranch {
  readonly afterMs: number;
  /** By place: the input whose value goes there, or undefined for a token without a value. */
  readonly outputs: readonly {
    readonly place: LibpetriPlace<unknown>;
    readonly from: string | undefined;
  }[];
}

/**
 * All outcomes, without that of the timeout. A transition without outputs has one empty outcome.
 */
export function listBranches(out: Out | null): readonly Branch[] {
  if (out === null) return [{ places: [] }];
  switch (out.type) {
    case 'place':
      return [{ places: [out.place] }];
    case 'forward-input':
      return [{ places: [out.to] }];
    case 'timeout':
      return [];
    case 'xor':
      return out.children.flatMap(listBranches);
    case 'and':
      return out.children
        .map(listBranches)
        .reduce<readonly Branch[]>(
          (all, more) =>
            all.flatMap((a) => more.map((b) => ({ places: [...a.places, ...b.places] }))),
          [{ places: [] }],
        );
    default:
      return out satisfies never;
  }
}

/**
 * The timeout of a transition if it is the whole output or one alternative; undefined if it is
 * nested deeper.
 */
export function findTimeout(out: Out | null): TimeoutBranch | undefined {
  const branch =
    out?.type === 'timeout' ? out : out?.type === 'xor' ? out.children.find(isTimeout) : undefined;
  if (branch === undefined) return undefined;
  const outputs = listTimeoutOutputs(branch.child);
  return outputs === undefined ? undefined : { afterMs: branch.afterMs, outputs };
}

function isTimeout(out: Out): out is OutTimeout {
  return out.type === 'timeout';
}

function listTimeoutOutputs(out: Out): TimeoutBranch['outputs'] | undefined {
  switch (out.type) {
    case 'place':
      return [{ place: out.place, from: undefined }];
    case 'forward-input':
      return [{ place: out.to, from: out.from.name }];
    case 'and': {
      const children = out.children.map(listTimeoutOutputs);
      return children.some((child) => child === undefined)
        ? undefined
        : children.flatMap((child) => child ?? []);
    }
    case 'xor':
    case 'timeout':
      return undefined;
    default:
      return out satisfies never;
  }
}
