import { PetrichorError } from '../../core/internal.ts';

/**
 * The optional package `libpetri` is not installed.
 * @remedy Run `npm install libpetri`.
 */
export class LibpetriMissingError extends PetrichorError {
  override readonly code = 'libpetri_missing' as const;

  constructor(cause: unknown) {
    super('Exchanging nets needs the package "libpetri": npm install libpetri.', { cause });
  }
}

/** A feature without a counterpart in Petrichor, or a change after the export. */
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

/** One feature of a libpetri net that cannot be imported. */
export interface Refusal {
  readonly transition: string;
  readonly feature: RefusedFeature;
  /** A sentence: the problem, and what to do. */
  readonly problem: string;
}

/**
 * A libpetri net uses features that Petrichor does not have. Nothing was imported; `refusals` lists all of them.
 * @remedy Change the libpetri net, or pass the import option that the message names.
 */
export class LibpetriImportError extends PetrichorError {
  override readonly code = 'libpetri_import' as const;
  readonly refusals: readonly Refusal[];

  constructor(net: string, refusals: readonly Refusal[]) {
    super(
      `The libpetri net "${net}" cannot be imported:\n${refusals.map(({ problem }) => `  - ${problem}`).join('\n')}`,
    );
    this.refusals = refusals;
  }
}

/** A difference between a net and its export. */
export interface Loss {
  /** The transition or place. */
  readonly where: string;
  /** A phrase: the property of the net, and how it was exported. */
  readonly what: string;
}

/**
 * A transition has the reserved name of the end of an effect; or the net has no exact counterpart in libpetri, and
 * `exact` was set. `losses` lists the differences.
 * @remedy Rename the transition. Remove `exact` to export a net that has no exact counterpart.
 */
export class LibpetriExportError extends PetrichorError {
  override readonly code = 'libpetri_export' as const;
  readonly losses: readonly Loss[];

  constructor(net: string, losses: readonly Loss[]) {
    super(
      `Net "${net}" has no exact counterpart in libpetri. Remove \`exact\` to export it anyway:\n` +
        losses.map(({ where, what }) => `  - "${where}" ${what}`).join('\n'),
    );
    this.losses = losses;
  }
}
