import { importOptional } from '../../core/internal.ts';
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
  return importOptional(import('libpetri'), (cause) => new LibpetriMissingError(cause));
}

/**
 * Loads the optional package's DOT export.
 * @throws LibpetriMissingError if it is not installed
 */
export async function loadLibpetriExport(): Promise<LibpetriExport> {
  return importOptional(import('libpetri/export'), (cause) => new LibpetriMissingError(cause));
}
