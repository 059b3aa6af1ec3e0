import type { Firing } from './marking.ts';
import type { RecordSeq } from './record.ts';

/** Firings in flight by the place `running(t)` they are tokens of, oldest first. */
export class FiringsInFlight {
  readonly #places = new Map<string, Map<RecordSeq, Firing>>();

  /** By place. */
  get byPlace(): ReadonlyMap<string, ReadonlyMap<RecordSeq, Firing>> {
    return this.#places;
  }

  /** @returns its place */
  add(firing: Firing): string {
    const place = placeOf(firing);
    const known = this.#places.get(place);
    if (known === undefined) this.#places.set(place, new Map([[firing.firing, firing]]));
    else known.set(firing.firing, firing);
    return place;
  }

  /** @returns the place it was in */
  remove(firing: Firing): string {
    const place = placeOf(firing);
    this.#places.get(place)?.delete(firing.firing);
    return place;
  }

  clear(): void {
    this.#places.clear();
  }
}

function placeOf({ t }: Firing): string {
  return `running(${t})`;
}
