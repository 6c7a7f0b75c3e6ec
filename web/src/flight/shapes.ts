// Shapes of a call as PyTorch prints them: "[[256]] Float to [[2, 256]] Float" is "[256] Float to [2, 256] Float".
function listWords(list: string): string {
  const shapes = list.match(/\[[^[\]]*\]/g) ?? [];
  const first = shapes[0] === "[]" ? "scalar" : shapes[0];
  if (first === undefined) return "none";
  if (shapes.length === 1) return first;
  return shapes.every((one) => one === shapes[0]) ? `${shapes.length} x ${first}` : `${first} and ${shapes.length - 1} more`;
}

export function shapeWords(sizes: string | undefined): string {
  return (sizes ?? "").replace(/\[(?:\[[^[\]]*\](?:, )?)*\]/g, listWords);
}
