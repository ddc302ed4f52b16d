/** What is told of an object once, however often it is asked. */
export function once<Of extends object, Told>(tell: (of: Of) => Told): (of: Of) => Told {
  const known = new WeakMap<Of, Told>();
  return (of) => {
    if (!known.has(of)) known.set(of, tell(of));
    return known.get(of)!;
  };
}
