import type { AnyPlace } from './place.ts';

const RUNNING_PREFIX = 'running(';

/** Returns the name of the place of an effect's firings in flight: `tool.run` → `running(tool.run)`. */
export function runningPlaceName(effect: string): string {
  return `${RUNNING_PREFIX}${effect})`;
}

/** True for a name that only a running place may have, complete or not. */
export function isRunningPlaceName(name: string): boolean {
  return name.startsWith(RUNNING_PREFIX);
}

/** Returns the effect of a running place: `running(tool.run)` → `tool.run`. Undefined for the name of another place. */
export function parseRunningPlaceName(name: string): string | undefined {
  return isRunningPlaceName(name) && name.endsWith(')')
    ? name.slice(RUNNING_PREFIX.length, -1)
    : undefined;
}

/** Returns the effect's name for a running place. Undefined for other places. */
export function effectName(place: AnyPlace): string | undefined {
  return place.kind === 'running' ? parseRunningPlaceName(place.name) : undefined;
}

/** Returns the name of a transition or a cluster in a scope: `tool.run` → `billing/tool.run`. */
export function scopedName(scope: string, name: string): string {
  return `${scope}/${name}`;
}

/**
 * Returns the name of a place in a scope: `tool.call` → `billing/tool.call`, `running(tool.run)` →
 * `running(billing/tool.run)`.
 */
export function scopedPlaceName(scope: string, name: string): string {
  const effect = parseRunningPlaceName(name);
  return effect === undefined
    ? scopedName(scope, name)
    : runningPlaceName(scopedName(scope, effect));
}

/** Returns a place under another name. Its former names change in the same way. */
export function renamePlace<P extends AnyPlace>(place: P, rename: (name: string) => string): P {
  return { ...place, name: rename(place.name), formerNames: place.formerNames.map(rename) };
}

/** True for the name of a place, and for each of its former names. */
export function hasName({ name, formerNames }: AnyPlace, found: string): boolean {
  return found === name || formerNames.includes(found);
}

/** True if `full` is the name `name` of a place or a transition, or the same name in some scope. */
export function isInAnyScope(full: string, name: string): boolean {
  const effect = parseRunningPlaceName(name);
  if (effect === undefined)
    return (
      full.endsWith(name) && (full.length === name.length || full.at(-name.length - 1) === '/')
    );
  const fullEffect = parseRunningPlaceName(full);
  return fullEffect !== undefined && isInAnyScope(fullEffect, effect);
}
