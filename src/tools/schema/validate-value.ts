import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../core/index.ts';
import type { ArgsIssue } from './parsed-args.ts';
import { hasFormat, formatWork } from './has-format.ts';
import { validateNumber, validateString, type Report } from './validate-scalar.ts';
import { listAt, type PreparedSchema } from './prepared-schema.ts';
import {
  dependencies,
  objectAt,
  stringsIn,
  truncatedJson,
  validateType,
} from './schema-keywords.ts';

/** The schema and the value together exceed the limits of validation. */
export class SchemaTooCostlyError extends Error {}

/** One step validates one value by one schema. */
const MAX_STEPS = 200_000;
/**
 * The work of all steps: a pattern costs its `cost` per character, other keywords the constants
 * below.
 */
const MAX_WORK = 50_000_000;
const MEMBER_WORK = 50;
const CHARACTER_WORK = 5;
const MAX_DEPTH = 600;
/** Further issues are dropped: a caller does not read that many. */
const MAX_ISSUES = 100;

/**
 * Validates a value and returns its issues; a valid value has none. It returns all issues, up to
 * 100, so that a model can correct them in one more call. The work is bounded for every schema.
 * @throws SchemaTooCostlyError if the bound is exceeded
 */
export function validateValue(value: Json, schema: PreparedSchema): readonly ArgsIssue[] {
  return new SchemaValidation(schema).validate(value, schema.root, [], undefined).issues;
}

type Path = readonly (string | number)[];

/** The result of one schema for one value: issues, and the members or items it evaluated. */
interface Outcome {
  readonly issues: ArgsIssue[];
  readonly evaluated: Set<string | number>;
}

class SchemaValidation {
  readonly #schema: PreparedSchema;
  #steps = 0;
  #work = 0;
  /** By schema: its allowed values as text. */
  readonly #allowed = new Map<JsonObject, string>();
  #depth = 0;

  constructor(schema: PreparedSchema) {
    this.#schema = schema;
  }

  /** `anchor` is the outermost schema with `$recursiveAnchor` (draft 2019-09). */
  validate(value: Json, schema: Json, path: Path, anchor: JsonObject | undefined): Outcome {
    const outcome: Outcome = { issues: [], evaluated: new Set() };
    if (++this.#steps > MAX_STEPS || ++this.#depth > MAX_DEPTH) throw new SchemaTooCostlyError();
    if (schema === false) outcome.issues.push({ path, message: 'is not allowed' });
    if (isJsonObject(schema)) this.#validateBySchema(schema, value, path, anchor, outcome);
    this.#depth -= 1;
    return outcome;
  }

  #validateBySchema(
    schema: JsonObject,
    value: Json,
    path: Path,
    outer: JsonObject | undefined,
    outcome: Outcome,
  ): void {
    const { draft, target } = this.#schema;
    const anchor = outer ?? (schema['$recursiveAnchor'] === true ? schema : undefined);
    const report: Report = (message) => {
      if (outcome.issues.length < MAX_ISSUES) outcome.issues.push({ path, message });
    };
    const inner = (subschema: Json): Outcome => this.validate(value, subschema, path, anchor);
    if (schema['$recursiveRef'] === '#') {
      this.#merge(outcome, inner(anchor ?? target(schema, '$recursiveRef') ?? true));
    }
    if (schema['$ref'] !== undefined) {
      this.#merge(outcome, inner(target(schema, '$ref') ?? true));
      if (draft === '4' || draft === '7') return;
    }
    validateType(schema, value, report);
    this.#validateAllowedValues(schema, value, report);
    this.#validateInPlace(schema, inner, outcome, report);
    if (typeof value === 'string') {
      const { minLength, maxLength } = schema;
      if (minLength !== undefined || maxLength !== undefined) this.#addWork(value.length);
      validateString(value, schema, report);
      const { pattern, format } = schema;
      if (typeof pattern === 'string' && !this.#matches(pattern, value)) {
        report(`String does not match pattern ${JSON.stringify(pattern)}`);
      }
      if (typeof format === 'string') this.#addWork(formatWork(value, format));
      if (typeof format === 'string' && !hasFormat(value, format)) {
        report(`String does not match format "${format}"`);
      }
    } else if (typeof value === 'number') validateNumber(value, schema, draft, report);
    else if (Array.isArray(value)) {
      this.#validateList(schema, value as readonly Json[], path, anchor, outcome, report);
    } else if (isJsonObject(value)) {
      this.#validateObject(schema, value, path, anchor, outcome, report);
    }
  }

  #validateInPlace(
    schema: JsonObject,
    inner: (subschema: Json) => Outcome,
    outcome: Outcome,
    report: Report,
  ): void {
    const { not, if: condition } = schema;
    if (not !== undefined && inner(not).issues.length === 0)
      report('Instance matched "not" schema');
    for (const subschema of listAt(schema, 'allOf')) this.#merge(outcome, inner(subschema));
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      if (!Array.isArray(schema[keyword])) continue;
      const outcomes = listAt(schema, keyword).map(inner);
      const valid = outcomes.filter(({ issues }) => issues.length === 0);
      for (const { evaluated } of valid) this.#addEvaluated(outcome, evaluated);
      if (keyword === 'anyOf' ? valid.length > 0 : valid.length === 1) continue;
      report(
        keyword === 'anyOf'
          ? 'Instance does not match any subschemas'
          : `Instance does not match exactly one subschema (${valid.length} matches)`,
      );
      for (const { issues } of outcomes) append(outcome.issues, issues);
    }
    if (condition === undefined) return;
    const conditionResult = inner(condition);
    const applies = conditionResult.issues.length === 0;
    if (applies) this.#addEvaluated(outcome, conditionResult.evaluated);
    const consequence = schema[applies ? 'then' : 'else'];
    if (consequence !== undefined) this.#merge(outcome, inner(consequence));
  }

  #validateObject(
    schema: JsonObject,
    value: JsonObject,
    path: Path,
    anchor: JsonObject | undefined,
    outcome: Outcome,
    report: Report,
  ): void {
    const keys = Object.keys(value);
    this.#addWork(keys.length * MEMBER_WORK);
    const has = (key: string): boolean => Object.hasOwn(value, key);
    const { minProperties: min, maxProperties: max, propertyNames } = schema;
    const required = stringsIn(schema['required']);
    this.#addSteps(required.length);
    for (const key of required) {
      if (!has(key)) report(`Instance does not have required property "${key}"`);
    }
    if (typeof min === 'number' && keys.length < min) {
      report(`Instance does not have at least ${min} properties`);
    }
    if (typeof max === 'number' && keys.length > max) {
      report(`Instance has more than ${max} properties`);
    }
    if (propertyNames !== undefined) {
      for (const key of keys) {
        const { issues } = this.validate(key, propertyNames, [...path, key], anchor);
        append(outcome.issues, issues);
      }
    }
    const entries = dependencies(schema);
    this.#addSteps(entries.length);
    for (const [key, needed] of entries) {
      if (!has(key)) continue;
      if (!Array.isArray(needed)) this.#merge(outcome, this.validate(value, needed, path, anchor));
      else {
        for (const other of stringsIn(needed)) {
          if (!has(other)) report(`Instance has "${key}" but does not have "${other}"`);
        }
      }
    }
    this.#validateMembers(schema, value, path, anchor, outcome);
  }

  #validateMembers(
    schema: JsonObject,
    value: JsonObject,
    path: Path,
    anchor: JsonObject | undefined,
    { issues, evaluated }: Outcome,
  ): void {
    const properties = objectAt(schema, 'properties');
    const patterns = Object.entries(objectAt(schema, 'patternProperties'));
    this.#addSteps(patterns.length);
    const { additionalProperties, unevaluatedProperties } = schema;
    for (const [key, member] of Object.entries(value)) {
      const by: Json[] = Object.hasOwn(properties, key) ? [properties[key] ?? true] : [];
      for (const [pattern, subschema] of patterns) {
        if (this.#matches(pattern, key)) by.push(subschema);
      }
      if (by.length === 0 && additionalProperties !== undefined) by.push(additionalProperties);
      else if (by.length === 0 && unevaluatedProperties !== undefined && !evaluated.has(key)) {
        by.push(unevaluatedProperties);
      }
      for (const subschema of by) {
        append(issues, this.validate(member, subschema, [...path, key], anchor).issues);
        evaluated.add(key);
      }
    }
  }

  #validateList(
    schema: JsonObject,
    value: readonly Json[],
    path: Path,
    anchor: JsonObject | undefined,
    outcome: Outcome,
    report: Report,
  ): void {
    const { minItems: min, maxItems: max, uniqueItems } = schema;
    if (typeof max === 'number' && value.length > max) {
      report(`Array has too many items (${value.length} > ${max})`);
    }
    if (typeof min === 'number' && value.length < min) {
      report(`Array has too few items (${value.length} < ${min})`);
    }
    if (uniqueItems === true) {
      const first = new Map<string, number>();
      for (const [i, item] of value.entries()) {
        const text = this.#canonical(item);
        const before = first.get(text);
        if (before !== undefined) report(`Duplicate items at indexes ${before} and ${i}`);
        else first.set(text, i);
      }
    }
    this.#validateItems(schema, value, path, anchor, outcome);
    this.#validateContains(schema, value, path, anchor, outcome, report);
    const { unevaluatedItems } = schema;
    if (unevaluatedItems === undefined) return;
    this.#addWork(value.length * MEMBER_WORK);
    for (const [i, item] of value.entries()) {
      if (outcome.evaluated.has(i)) continue;
      append(outcome.issues, this.validate(item, unevaluatedItems, [...path, i], anchor).issues);
      outcome.evaluated.add(i);
    }
  }

  #validateItems(
    schema: JsonObject,
    value: readonly Json[],
    path: Path,
    anchor: JsonObject | undefined,
    { issues, evaluated }: Outcome,
  ): void {
    const { items, additionalItems } = schema;
    const isTuple = Array.isArray(items);
    const first = [...listAt(schema, 'prefixItems'), ...listAt(schema, 'items')];
    const rest = isTuple ? additionalItems : items;
    this.#addSteps(first.length);
    for (const [i, item] of value.entries()) {
      const subschema = first[i] ?? rest;
      if (subschema === undefined) return;
      append(issues, this.validate(item, subschema, [...path, i], anchor).issues);
      evaluated.add(i);
    }
  }

  #validateContains(
    schema: JsonObject,
    value: readonly Json[],
    path: Path,
    anchor: JsonObject | undefined,
    { evaluated }: Outcome,
    report: Report,
  ): void {
    const { contains, minContains = 1, maxContains } = schema;
    if (contains === undefined) return;
    let found = 0;
    for (const [i, item] of value.entries()) {
      if (this.validate(item, contains, [...path, i], anchor).issues.length > 0) continue;
      found += 1;
      if (this.#schema.draft === '2020-12') evaluated.add(i);
    }
    if (typeof minContains === 'number' && found < minContains) {
      report(`Array must contain at least ${minContains} items matching schema; it has ${found}`);
    }
    if (typeof maxContains === 'number' && found > maxContains) {
      report(`Array may contain at most ${maxContains} items matching schema; it has ${found}`);
    }
  }

  #matches(source: string, text: string): boolean {
    const pattern = this.#schema.pattern(source);
    this.#addWork(pattern.cost * (text.length + 1));
    return pattern.matches(text);
  }

  #validateAllowedValues(schema: JsonObject, value: Json, report: Report): void {
    const { const: only, enum: list } = schema;
    const isSame = (other: Json): boolean =>
      other === value ||
      (typeof other === 'object' &&
        typeof value === 'object' &&
        this.#canonical(other) === this.#canonical(value));
    if (only !== undefined && !isSame(only)) {
      report(`Instance does not match ${this.#describe(schema, only)}`);
    }
    if (!Array.isArray(list)) return;
    this.#addWork(list.length);
    if (!(list as readonly Json[]).some(isSame)) {
      report(`Instance does not match any of ${this.#describe(schema, list)}`);
    }
  }

  #describe(schema: JsonObject, allowed: Json): string {
    const text = this.#allowed.get(schema) ?? truncatedJson(allowed);
    this.#allowed.set(schema, text);
    return text;
  }

  #canonical(value: Json): string {
    const text = canonicalJson(value);
    this.#addWork(MEMBER_WORK + text.length * CHARACTER_WORK);
    return text;
  }

  #merge(outcome: Outcome, inner: Outcome): void {
    append(outcome.issues, inner.issues);
    this.#addEvaluated(outcome, inner.evaluated);
  }

  #addEvaluated(outcome: Outcome, evaluated: ReadonlySet<string | number>): void {
    this.#addWork(evaluated.size * MEMBER_WORK);
    for (const key of evaluated) outcome.evaluated.add(key);
  }

  /** Counts work before it is done. */
  #addWork(work: number): void {
    this.#work += work;
    if (this.#work > MAX_WORK) throw new SchemaTooCostlyError();
  }

  #addSteps(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) throw new SchemaTooCostlyError();
  }
}

function append(issues: ArgsIssue[], more: readonly ArgsIssue[]): void {
  issues.push(...more.slice(0, Math.max(0, MAX_ISSUES - issues.length)));
}
