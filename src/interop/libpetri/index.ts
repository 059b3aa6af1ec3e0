export { fromLibpetri } from './from-libpetri.ts';
export type { ImportOptions } from './from-libpetri.ts';
export {
  LibpetriExportError,
  LibpetriImportError,
  LibpetriMissingError,
} from './libpetri-errors.ts';
export type { Loss, RefusedFeature, Refusal } from './libpetri-errors.ts';
export { toLibpetri, toLibpetriDot } from './to-libpetri.ts';
export type { ExportedNet, ExportOptions } from './to-libpetri.ts';
