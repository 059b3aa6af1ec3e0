import type { AnyPlace, Transition } from '../../net/index.ts';
import type { Place as LibpetriPlace, TransitionAction } from 'libpetri';

/** The key under which an exported place or action refers to its source. */
const SOURCE: unique symbol = Symbol.for('petrichor.source');

interface ExportedPlace extends LibpetriPlace<unknown> {
  readonly [SOURCE]: AnyPlace;
}

interface ExportedAction extends TransitionAction {
  readonly [SOURCE]: Transition;
}

export function toExportedPlace(place: AnyPlace): ExportedPlace {
  return { name: place.name, [SOURCE]: place };
}

export function getPlaceSource(place: LibpetriPlace<unknown>): AnyPlace | undefined {
  return isExportedPlace(place) ? place[SOURCE] : undefined;
}

/**
 * The action of an exported transition. In libpetri's executor it only throws an error that
 * explains this.
 */
export function toExportedAction(source: Transition): ExportedAction {
  const action = async (): Promise<void> => {
    throw new Error(
      `"${source.name}" was exported to be drawn and analyzed. Run the net with Petrichor.`,
    );
  };
  return Object.assign(action, { [SOURCE]: source });
}

export function getActionSource(action: TransitionAction): Transition | undefined {
  return isExportedAction(action) ? action[SOURCE] : undefined;
}

function isExportedPlace(place: LibpetriPlace<unknown>): place is ExportedPlace {
  return SOURCE in place;
}

function isExportedAction(action: TransitionAction): action is ExportedAction {
  return SOURCE in action;
}
