import type { Out, OutTimeout, Place as LibpetriPlace } from 'libpetri';

/** One of the ways a libpetri transition may end: the places it gives to. */
export interface Branch {
  readonly places: readonly LibpetriPlace<unknown>[];
}

/** What a libpetri transition gives when its action takes too long. */
export interface TimeoutBranch {
  readonly afterMs: number;
  /** By place: the input whose value goes there, or undefined for a bare token. */
  readonly outputs: readonly {
    readonly place: LibpetriPlace<unknown>;
    readonly from: string | undefined;
  }[];
}

/** All ways to end, the timeout's apart. Without an output there is one, which gives nothing. */
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

/** The timeout of a transition, when it stands alone or as one alternative; undefined when it is part of something. */
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
