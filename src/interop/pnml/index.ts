export { fromPnml } from './from-pnml.ts';
export type { FromPnmlOptions, ImportedPnml } from './from-pnml.ts';
export { PnmlFormatError, PnmlLimitError, PnmlUnsupportedError } from './pnml-errors.ts';
export type { PnmlLimitName, PnmlLocation } from './pnml-errors.ts';
export type { PnmlLimits } from './pnml-limits.ts';
export { toPnml } from './to-pnml.ts';
export type { ExportedPnml, PnmlLoss } from './to-pnml.ts';
