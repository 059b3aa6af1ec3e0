import { PnmlFormatError, PnmlUnsupportedError, shorten } from './pnml-errors.ts';
import type { PnmlLocation } from './pnml-errors.ts';
import { joinColor, onlyElement } from './sorts.ts';
import type { LimitCheck } from './pnml-limits.ts';
import type { Declarations, Sort, Variable } from './sorts.ts';
import { childrenNamed, onlyChild, parseInteger, readAttribute } from './xml-element.ts';
import type { XmlElement } from './xml-element.ts';

/** The colors of the variables, by id of the variable. */
export type VariableBinding = ReadonlyMap<string, number>;
/** A multiset: the number of tokens by color. Colors without tokens are left out. */
export type Multiset = ReadonlyMap<number, number>;

/** A term that is a multiset of colors of one sort. A color is a multiset of one. */
export interface ColorTerm {
  readonly sort: Sort;
  readonly variables: ReadonlySet<string>;
  readonly evaluate: (binding: VariableBinding) => Multiset;
}

/** A term that is true or false. */
export interface Condition {
  readonly variables: ReadonlySet<string>;
  readonly holds: (binding: VariableBinding) => boolean;
}

/** Parses the terms of a net, with their sorts. */
export class TermParser {
  readonly #declarations: Declarations;
  readonly #limits: LimitCheck;
  /** By key of a sort: all its colors. */
  readonly #all = new Map<number, Multiset>();

  constructor(declarations: Declarations, limits: LimitCheck) {
    this.#declarations = declarations;
    this.#limits = limits;
  }

  /**
   * Parses a term that must be a multiset of this sort.
   * @throws PnmlFormatError if it has another sort, or names something that is not declared.
   * @throws PnmlUnsupportedError if it uses an unknown operator.
   */
  parseMultiset(element: XmlElement, sort: Sort): ColorTerm {
    const term = this.#parse(element);
    if (term.sort.key === sort.key) return term;
    throw new PnmlFormatError(
      'the term has another sort than its place. Correct the term, or the type of the place.',
      element.at,
    );
  }

  /** Parses the condition of a transition. */
  parseCondition(element: XmlElement): Condition {
    const { name, at } = element;
    switch (name) {
      case 'and':
      case 'or': {
        const parts = subterms(element).map((part) => this.parseCondition(part));
        return {
          variables: union(parts),
          holds: (binding) =>
            name === 'and'
              ? parts.every((part) => part.holds(binding))
              : parts.some((part) => part.holds(binding)),
        };
      }
      case 'not': {
        const [part] = exactly(element, 1).map((one) => this.parseCondition(one));
        return {
          variables: union([part]),
          holds: (binding) => part?.holds(binding) === false,
        };
      }
      case 'imply': {
        const [before, after] = exactly(element, 2).map((one) => this.parseCondition(one));
        return {
          variables: union([before, after]),
          holds: (binding) => before?.holds(binding) === false || after?.holds(binding) === true,
        };
      }
      case 'booleanconstant': {
        const value = readAttribute(element, 'value');
        if (value !== 'true' && value !== 'false')
          throw new PnmlFormatError(
            `the value is "${shorten(value)}"; expected true or false.`,
            at,
          );
        return {
          variables: new Set(),
          holds: () => {
            this.#limits.countSteps(1, at);
            return value === 'true';
          },
        };
      }
      case 'equality':
        return this.#comparison(element, false, (a, b) => a === b);
      case 'inequality':
        return this.#comparison(element, false, (a, b) => a !== b);
      case 'lessthan':
        return this.#comparison(element, true, (a, b) => a < b);
      case 'lessthanorequal':
        return this.#comparison(element, true, (a, b) => a <= b);
      case 'greaterthan':
        return this.#comparison(element, true, (a, b) => a > b);
      case 'greaterthanorequal':
        return this.#comparison(element, true, (a, b) => a >= b);
      default:
        throw new PnmlUnsupportedError(
          'the operator is not known in a condition; expected and, or, not, imply, equality, inequality, lessthan, lessthanorequal, greaterthan, greaterthanorequal or booleanconstant. Rewrite the condition.',
          at,
        );
    }
  }

  #comparison(
    element: XmlElement,
    ordered: boolean,
    compare: (a: number, b: number) => boolean,
  ): Condition {
    const [left, right] = exactly(element, 2).map((part) => this.#parse(part));
    if (left === undefined || right === undefined || left.sort.key !== right.sort.key) {
      throw new PnmlFormatError(
        'the two sides have different sorts. Compare colors of one sort.',
        element.at,
      );
    }
    if (ordered && left.sort.kind === 'product') {
      throw new PnmlUnsupportedError('tuples have no order. Compare their components.', element.at);
    }
    return {
      variables: union([left, right]),
      holds: (binding) =>
        compare(
          onlyColor(left.evaluate(binding), element.at),
          onlyColor(right.evaluate(binding), element.at),
        ),
    };
  }

  #parse(element: XmlElement): ColorTerm {
    const { name, at } = element;
    switch (name) {
      case 'variable':
        return this.#variable(element);
      case 'useroperator': {
        const id = readAttribute(element, 'declaration');
        const constant = this.#declarations.constants.get(id);
        if (constant === undefined) throw undeclared('constant', id, at);
        return this.#constant(constant.sort, constant.color, at);
      }
      case 'dotconstant':
        return this.#constant(this.#declarations.dot, 0, at);
      case 'finiteintrangeconstant': {
        const sort = this.#declarations.readSort(onlyElement(element));
        const value = parseInteger(readAttribute(element, 'value'), sort.start, at);
        if (sort.kind !== 'range' || value >= sort.start + sort.size) {
          throw new PnmlFormatError(
            `the value is ${value}, which is outside of its finiteintrange. Correct it.`,
            at,
          );
        }
        return this.#constant(sort, value - sort.start, at);
      }
      case 'successor':
        return this.#neighbor(element, 1);
      case 'predecessor':
        return this.#neighbor(element, -1);
      case 'tuple':
        return this.#tuple(element);
      case 'all': {
        const sort = this.#declarations.readSort(onlyElement(element));
        return {
          sort,
          variables: new Set(),
          evaluate: () => {
            this.#limits.countSteps(sort.size, at);
            return this.#allColors(sort);
          },
        };
      }
      case 'empty': {
        const sort = this.#declarations.readSort(onlyElement(element));
        return {
          sort,
          variables: new Set(),
          evaluate: () => {
            this.#limits.countSteps(1, at);
            return new Map();
          },
        };
      }
      case 'numberof':
      case 'scalarproduct':
        return this.#times(element);
      case 'add':
        return this.#sum(element, 1);
      case 'subtract':
        return this.#sum(element, -1);
      default:
        throw new PnmlUnsupportedError(
          'the operator is not known in a term; expected variable, useroperator, dotconstant, finiteintrangeconstant, successor, predecessor, tuple, all, empty, numberof, scalarproduct, add or subtract. Rewrite the term.',
          at,
        );
    }
  }

  #variable(element: XmlElement): ColorTerm {
    const id = readAttribute(element, 'refvariable');
    const variable: Variable | undefined = this.#declarations.variables.get(id);
    if (variable === undefined) throw undeclared('variable', id, element.at);
    return {
      sort: variable.sort,
      variables: new Set([id]),
      evaluate: (binding) => {
        this.#limits.countSteps(1, element.at);
        return new Map([[binding.get(id) ?? 0, 1]]);
      },
    };
  }

  #constant(sort: Sort, color: number, at: PnmlLocation): ColorTerm {
    const only = new Map([[color, 1]]);
    return {
      sort,
      variables: new Set(),
      evaluate: () => {
        this.#limits.countSteps(1, at);
        return only;
      },
    };
  }

  #allColors(sort: Sort): Multiset {
    const known = this.#all.get(sort.key);
    if (known !== undefined) return known;
    const colors = new Map(Array.from({ length: sort.size }, (_, color) => [color, 1]));
    this.#all.set(sort.key, colors);
    return colors;
  }

  #neighbor(element: XmlElement, step: 1 | -1): ColorTerm {
    const [part] = exactly(element, 1).map((one) => this.#parse(one));
    if (part?.sort.kind !== 'cyclic') {
      throw new PnmlUnsupportedError(
        'only colors of a cyclicenumeration have a successor and a predecessor. Declare the sort as cyclic.',
        element.at,
      );
    }
    const { size } = part.sort;
    return {
      ...part,
      evaluate: (binding) =>
        new Map(
          [...part.evaluate(binding)].map(([color, count]) => [
            (color + step + size) % size,
            count,
          ]),
        ),
    };
  }

  /** A component that is a multiset, such as `all`, stands for one tuple for each of its colors. */
  #tuple(element: XmlElement): ColorTerm {
    const parts = subterms(element).map((part) => this.#parse(part));
    const components = parts.map(({ sort }) => sort);
    const sort = this.#declarations.productSort(components, element);
    return {
      sort,
      variables: union(parts),
      evaluate: (binding) => {
        let tuples: readonly (readonly [readonly number[], number])[] = [[[], 1]];
        for (const part of parts) {
          const colors = part.evaluate(binding);
          this.#limits.countSteps(tuples.length * colors.size, element.at);
          tuples = tuples.flatMap(([tuple, times]) =>
            [...colors].map(([color, count]) => [[...tuple, color], times * count] as const),
          );
        }
        return new Map(tuples.map(([tuple, times]) => [joinColor(components, tuple), times]));
      },
    };
  }

  #times(element: XmlElement): ColorTerm {
    const [count, term] = exactly(element, 2);
    if (count?.name !== 'numberconstant' || term === undefined) {
      throw new PnmlUnsupportedError(
        'the first subterm is not a numberconstant. Write the number of tokens as a constant.',
        element.at,
      );
    }
    const times = parseInteger(readAttribute(count, 'value'), 0, count.at);
    const part = this.#parse(term);
    if (times === 1) return part;
    return {
      ...part,
      evaluate: (binding) =>
        new Map([...part.evaluate(binding)].map(([color, tokens]) => [color, tokens * times])),
    };
  }

  #sum(element: XmlElement, sign: 1 | -1): ColorTerm {
    const parts = subterms(element).map((part) => this.#parse(part));
    const [first] = parts;
    if (first === undefined || parts.some(({ sort }) => sort.key !== first.sort.key)) {
      throw new PnmlFormatError('the subterms have different sorts. Use one sort.', element.at);
    }
    return {
      sort: first.sort,
      variables: union(parts),
      evaluate: (binding) => {
        const total = new Map<number, number>();
        parts.forEach((part, index) => {
          for (const [color, tokens] of part.evaluate(binding)) {
            total.set(color, (total.get(color) ?? 0) + (index === 0 ? 1 : sign) * tokens);
          }
        });
        if ([...total.values()].some((tokens) => tokens < 0)) {
          throw new PnmlFormatError(
            'it subtracts tokens that the first subterm does not have. Correct the term, or add a condition.',
            element.at,
          );
        }
        return new Map([...total].filter(([, tokens]) => tokens > 0));
      },
    };
  }
}

function subterms(element: XmlElement): readonly XmlElement[] {
  const parts = childrenNamed(element, 'subterm').map(onlyElement);
  if (parts.length === element.children.length && parts.length > 0) return parts;
  throw new PnmlFormatError('the operator needs subterm elements only, at least one.', element.at);
}

function exactly(element: XmlElement, count: number): readonly XmlElement[] {
  const parts = subterms(element);
  if (parts.length === count) return parts;
  throw new PnmlFormatError(
    `it has ${parts.length} subterms; expected ${count}. Correct it.`,
    element.at,
  );
}

function union(
  parts: readonly ({ readonly variables: ReadonlySet<string> } | undefined)[],
): ReadonlySet<string> {
  return new Set(parts.flatMap((part) => [...(part?.variables ?? [])]));
}

function onlyColor(colors: Multiset, at: PnmlLocation): number {
  const [first, second] = colors;
  if (first !== undefined && second === undefined && first[1] === 1) return first[0];
  throw new PnmlFormatError('it compares multisets. Compare single colors.', at);
}

function undeclared(what: string, id: string, at: PnmlLocation): PnmlFormatError {
  return new PnmlFormatError(
    `the ${what} "${shorten(id)}" is not declared. Declare it in the net.`,
    at,
  );
}

/** Returns the term inside the `<structure>` of a label. Undefined if the structure is empty. */
export function readStructure(label: XmlElement): XmlElement | undefined {
  const structure = onlyChild(label, 'structure');
  return structure.children.length === 0 ? undefined : onlyElement(structure);
}
