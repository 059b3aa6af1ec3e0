/** The names of `Type` of `@google/genai`, which is no dependency here. The type fits the enum of that package. */
export const Type: Readonly<Record<'OBJECT' | 'STRING' | 'ARRAY' | 'INTEGER', never>> = {
  OBJECT: 'OBJECT' as never,
  STRING: 'STRING' as never,
  ARRAY: 'ARRAY' as never,
  INTEGER: 'INTEGER' as never,
};
