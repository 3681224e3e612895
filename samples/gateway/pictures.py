"""Makes thumbnails."""

import io

import PIL.Image

import skep

WIDEST = 1024
MOST_PIXELS = 40_000_000
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")  # Pillow starts programs for some other formats

worker = skep.Worker()


@worker.command
def thumbnail(width: int):
    """Returns a PNG of the attached image, at most `width` wide and high."""
    if not 1 <= width <= WIDEST:
        raise skep.Error("bad_width", f"the width must be 1..{WIDEST}")
    png = io.BytesIO()
    try:
        image = PIL.Image.open(io.BytesIO(skep.attachments()[0]), formats=FORMATS)
        if image.width * image.height > MOST_PIXELS:  # before the image is decoded
            raise skep.Error("bad_image", f"the image has more than {MOST_PIXELS} pixels")
        image.thumbnail((width, width))
        image.convert("RGBA").save(png, "PNG")
    except (MemoryError, skep.Error):
        raise
    except Exception as error:  # decoders raise various types for broken images
        raise skep.Error("bad_image", "this is not an image that can be read") from error
    return png.getvalue()


if __name__ == "__main__":
    worker.run()
