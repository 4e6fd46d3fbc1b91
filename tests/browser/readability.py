"""How well a page can be read: the size and contrast of each text that is seen."""

READ = """(root) => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const linear = (each) =>
    each <= 10 ? each / 255 / 12.92 : ((each / 255 + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) =>
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ground = (each) => {
    for (; each; each = each.parentElement) {
      const colour = channels(getComputedStyle(each).backgroundColor);
      if (colour[3] !== 0) return colour;
    }
    return [255, 255, 255];
  };
  const isText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
  return [...root.querySelectorAll("*")]
    .filter((each) => !each.closest("svg") && [...each.childNodes].some(isText))
    .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height > 1)
    .map((each) => {
      const style = getComputedStyle(each);
      const [one, other] = [channels(style.color), ground(each)].map(light);
      const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      return { text: each.textContent, contrast, size: parseFloat(style.fontSize) };
    });
}"""
