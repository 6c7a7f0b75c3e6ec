# The report's front end, bundled by esbuild and embedded with .incbin. Filled in by outputs/html.
set(web_bundle_sources)
