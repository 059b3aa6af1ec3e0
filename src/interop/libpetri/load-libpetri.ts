import type * as libpetri from 'libpetri';
import type * as libpetriExport from 'libpetri/export';
import { LibpetriMissingError } from './libpetri-errors.ts';

export type Libpetri = typeof libpetri;
export type LibpetriExport = typeof libpetriExport;

/**
 * Loads the optional package.
 * @throws LibpetriMissingError if it is not installed
 */
export async function loadLibpetri(): Promise<Libpetri> {
  try {
    return await import('libpetri');
  } catch (error) {
    throw new LibpetriMissingError(error);
  }
}

/**
 * Loads the optional package's DOT export.
 * @throws LibpetriMissingError if it is not installed
 */
export async function loadLibpetriExport(): Promise<LibpetriExport> {
  try {
    return await import('libpetri/export');
  } catch (error) {
    throw new LibpetriMissingError(error);
  }
}
