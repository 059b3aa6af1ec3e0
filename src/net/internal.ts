/** Exports of `net/` for other folders of `src/`. The package does not publish them. */

export { copyMarking } from './journal/marking.ts';
export { decodeMarking, encodeMarking } from './journal/encoded-marking.ts';
export type { EncodedMarking } from './journal/marking-format.ts';
export { readFiringTokens } from './engine/binding.ts';
export { isMarked } from './engine/token-values.ts';
export { Heap } from './engine/heap.ts';
export type { ListChange, TokenRemoval } from './journal/record.ts';
export type { CompiledInput, CompiledOutput, CompiledTransition } from './build/compile.ts';
export { applyMapChange } from './journal/map-state.ts';
export { arcPlace, listOutputs, type InputArc, type OutputArc } from './language/arcs.ts';
export { portPlaces, type InitialToken } from './language/net.ts';
export {
  hasName,
  isInAnyScope,
  parseRunningPlaceName,
  renamePlace,
  runningPlaceName,
  scopedName,
  scopedPlaceName,
} from './language/place-identity.ts';
export { currentPlaceName } from './language/former-names.ts';
export { renameMarking } from './journal/rename-marking.ts';
export type { NamedNet } from './journal/rename-marking.ts';
export { renameRecord } from './journal/rename-record.ts';
export {
  limitFirings,
  MAX_FIRINGS_PER_SETTLE,
  MAX_FIRINGS_PER_TOKEN,
} from './engine/settle-limit.ts';
export { parseTokenValue } from './language/parse-token-value.ts';
export { renameTransition } from './language/transition.ts';
export { renderDot } from './diagram/diagram.ts';
export { netGraph } from './diagram/net-graph.ts';
export { omitAlternatives, omitOutputs } from './language/omit-outputs.ts';
export { ShutdownError } from './engine/abort-reasons.ts';
