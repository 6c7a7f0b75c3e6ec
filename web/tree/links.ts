// Links within the tree keep the query parameters of the address: what serves the tree may need them on each page (a
// key, a choice). Links to other places and to parts of the same page stay as they are.
if (location.search) {
  for (const link of document.querySelectorAll("a[href]")) {
    const href = link.getAttribute("href") ?? "";
    if (/^([a-z][a-z0-9+.-]*:|[/#?])/i.test(href)) continue;
    const hash = href.indexOf("#") < 0 ? href.length : href.indexOf("#");
    link.setAttribute("href", href.slice(0, hash) + location.search + href.slice(hash));
  }
}
export {};
