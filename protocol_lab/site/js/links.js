// A walk in the page's address, in the form of protocol_lab/traces/text_exports.py; after it ~ and which of
// the page's steppers it is in.

const MOST_IN_A_LINK = 1_000_000; // bytes of text, as in links.py
const LINK = /lab1\.([\w-]+)(?:~(\d+))?/;

/** What a link is about: a spec's name, perhaps a challenge's, and the stepper's number; null if the
 * link is not whole. */
async function aboutLink(text) {
  try {
    const [, packed, number] = LINK.exec(text);
    const base64 = packed.replaceAll("-", "+").replaceAll("_", "/");
    const bytes = await inflated(bytesOf(base64).slice(4), MOST_IN_A_LINK);
    const [header, next] = new TextDecoder().decode(bytes).split("\n");
    const spec = header.replace("# spec:", "").replaceAll('"', "").trim().split(/\s+/)[0];
    return { spec, challenge: /^# challenge: (\w+)$/.exec(next)?.[1] ?? null, number };
  } catch {
    return null;
  }
}

/** A button that puts an address on the clipboard, to be pasted into a chat or a slide. */
function linkButton(address) {
  const label = "Copy link";
  const copyIt = async () => {
    try {
      await navigator.clipboard.writeText(address());
      button.textContent = "Copied";
    } catch {
      history.replaceState(null, "", address());
      button.textContent = "Copy the address above";
    }
    setTimeout(() => (button.textContent = label), 4000);
  };
  const title = "An address that opens this very step, in this page or in the kit (Tools, load…)";
  const button = h("button", { "data-key": "copy-link", "aria-live": "polite", title, onclick: copyIt }, label);
  return button;
}
