import { isRecord } from '../../../core/internal.ts';

/** An object of the wire, whose members may have any type. */
export type WireObject = Readonly<Record<string, unknown>>;

/** A member that is a string. */
export function readString(object: WireObject | undefined, key: string): string | undefined {
  const value = object?.[key];
  return typeof value === 'string' ? value : undefined;
}

/** A member that is a finite number, or the text of one: 64-bit integers are texts in JSON. */
export function readNumber(object: WireObject | undefined, key: string): number | undefined {
  const value = object?.[key];
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** A member that is an object. */
export function readObject(object: WireObject | undefined, key: string): WireObject | undefined {
  const value = object?.[key];
  return isRecord(value) ? value : undefined;
}

/** The objects of a member that is a list. */
export function readObjects(object: WireObject | undefined, key: string): readonly WireObject[] {
  const value = object?.[key];
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** The strings of a member that is a list. */
export function readStrings(object: WireObject | undefined, key: string): readonly string[] {
  const value = object?.[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** A duration such as `9.5s`, in milliseconds. */
export function readDurationMs(object: WireObject | undefined, key: string): number | undefined {
  const seconds = /^(?<seconds>\d+(?:\.\d+)?)s$/.exec(readString(object, key) ?? '')?.groups;
  return seconds === undefined ? undefined : Math.round(Number(seconds['seconds']) * 1000);
}
