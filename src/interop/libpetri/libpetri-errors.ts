import { PetrichorError } from '../../core/errors/petrichor-error.ts';

/** libpetri is an optional package. */
export class LibpetriMissingError extends PetrichorError {
  override readonly code = 'libpetri_missing' as const;

  constructor(cause: unknown) {
    super('Exchanging nets needs the package "libpetri": npm install libpetri.', { cause });
  }
}

/** What our nets have no counterpart for, or what was changed since it was exported. */
export type RefusedFeature =
  | 'guard'
  | 'deadline'
  | 'double arc'
  | 'at-least'
  | 'clock'
  | 'timed effect'
  | 'timeout'
  | 'match'
  | 'unknown name'
  | 'changed';

/** One thing of a libpetri net that is not imported. */
export interface Refusal {
  readonly transition: string;
  readonly feature: RefusedFeature;
  /** A sentence: what is there, and what to do. */
  readonly problem: string;
}

/** The libpetri net says what ours cannot. Nothing was imported; everything refused is listed. */
export class LibpetriImportError extends PetrichorError {
  override readonly code = 'libpetri_import' as const;
  readonly refusals: readonly Refusal[];

  constructor(net: string, refusals: readonly Refusal[]) {
    super(
      `The libpetri net "${net}" is not imported:\n${refusals.map(({ problem }) => `  - ${problem}`).join('\n')}`,
    );
    this.refusals = refusals;
  }
}

/** Something of our net that libpetri shows differently. */
export interface Loss {
  /** The transition or place. */
  readonly where: string;
  /** A phrase: what the net says, and what libpetri is told instead. */
  readonly what: string;
}

/** The net cannot be said exactly in libpetri, and that was asked for. */
export class LibpetriExportError extends PetrichorError {
  override readonly code = 'libpetri_export' as const;
  readonly losses: readonly Loss[];

  constructor(net: string, losses: readonly Loss[]) {
    super(
      `Net "${net}" has no exact counterpart in libpetri; leave out \`exact\` to export it all the same:\n` +
        losses.map(({ where, what }) => `  - "${where}" ${what}`).join('\n'),
    );
    this.losses = losses;
  }
}
